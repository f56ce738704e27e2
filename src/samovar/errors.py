"""The errors that samovar raises on purpose: bad input, bad files, a full disk."""


class SamovarError(Exception):
    """An error that the user can put right: the message says what was wrong, where, and what to do.

    The command line prints the message and exits with code 2; it shows a traceback only with
    `--debug`.
    """


class SettingsError(SamovarError, ValueError):
    """A setting is out of range."""


class OutputError(SamovarError, OSError):
    """A result could not be written."""


class DataError(SamovarError, ValueError):
    """A data set, an archive or an image cannot be used as it is."""


class ModelError(SamovarError, ValueError):
    """A model folder cannot be used as it is."""


class RunError(SamovarError):
    """A training run cannot continue."""
