"""A model on disk: a folder with settings, weights and a card; and the shipped models."""
