"""Training: a run and its folder, the loop of updates, checkpoints, and a user's own data."""
