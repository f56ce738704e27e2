"""Frozen pretrained networks that turn images into vectors."""
