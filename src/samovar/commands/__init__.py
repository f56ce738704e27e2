"""The commands, one file each; heavy imports happen inside them, so that `--help` answers at once."""
