"""The command line, one file for each command.

Heavy imports happen inside the commands, so that `--help` answers at once.
"""
