"""The errors that samovar raises on purpose: bad input, bad files, a full disk."""


class SamovarError(Exception):
    """An error that the user can put right: the message says what was wrong, where, and what to do.

    The command line prints the message and exits with code 2; it shows a traceback only with
    `--debug`.
    """


class UnreadableError(SamovarError, ValueError):
    """The content of a file is not what it should be; the message says what is wrong with it.

    Whoever reads the file says in an error of its own which file it is, and what to do.
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


class DivergedError(RunError):
    """The loss or the gradient of a training run is not finite, so its weights would be lost."""
