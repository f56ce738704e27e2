"""The command line, one file for each command; heavy imports happen inside them, so that `--help` answers at once."""
