"""Tools that know nothing of few-shot learning: random numbers, files, progress, devices and processes."""
