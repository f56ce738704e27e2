"""Tools that know nothing of few-shot learning: randomness, files, progress, devices."""
