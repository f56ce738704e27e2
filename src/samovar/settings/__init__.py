"""What can be chosen: dataclasses that are at once Python API, command-line flags, help text and stored files.

This room imports no torch and no numpy, so that `samovar --help` answers at once.
"""
