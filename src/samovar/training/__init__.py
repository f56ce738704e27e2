"""A training run: its folder, its loop, its checkpoints."""
