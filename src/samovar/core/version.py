"""The version of the installed package, read only when it is asked for."""

from importlib.metadata import version

VERSION = version("samovar")
