"""What can be chosen, as dataclasses.

Each is at once Python API, command-line flags, help text and the form of stored files. This room
imports no torch and no numpy, so that `samovar --help` answers at once.
"""
