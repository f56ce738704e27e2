"""HEIC and AVIF photographs, as telephones take them, through the extra `heic`.

HEIC needs the package `pillow-heif`, AVIF a version of Pillow that was built with it. Which of them
a file is, its first bytes say, whatever its name is.
"""

import importlib.util
from pathlib import PurePath

from PIL import features

from samovar.errors import DataError

EXTENSIONS = (".heic", ".heif", ".avif")
INSTALL = "pip install 'samovar[heic]'"
BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""What the bytes 8 to 12 of a HEIC file may be."""
AVIF_BRANDS = (b"avif", b"avis")
SHARED_BRANDS = (b"mif1", b"msf1")
"""Of either kind; the brands that follow tell which."""


def is_heif(content: bytes) -> bool:
    """Tell whether these are the bytes of a HEIC or HEIF file, whatever it is called.

    >>> is_heif(bytes(4) + b"ftypheic")
    True
    """
    return content[4:8] == b"ftyp" and content[8:12] in BRANDS and not is_avif(content)


def is_avif(content: bytes) -> bool:
    """Tell whether these are the bytes of an AVIF file, whatever it is called.

    >>> is_avif(bytes(4) + b"ftypavif")
    True
    """
    if content[4:8] != b"ftyp":
        return False
    brand = content[8:12]
    if brand in SHARED_BRANDS:
        # The first box ends at its length; compatible brands begin after a version number.
        length = min(int.from_bytes(content[:4], "big"), 64)
        return b"avif" in content[16:length]
    return brand in AVIF_BRANDS


def reads_heif() -> bool:
    """Return whether HEIC files can be read here."""
    try:
        return importlib.util.find_spec("pillow_heif") is not None
    except ValueError:  # the module is there, but was not imported in the usual way
        return False


def reads_avif() -> bool:
    """Return whether AVIF files can be read here."""
    return bool(features.check("avif"))


def missing_for(path: PurePath) -> str | None:
    """Return what must be installed before a file of this name can be read; None if nothing."""
    suffix = path.suffix.lower()
    readable = True
    if suffix == ".avif":
        readable = reads_avif()
    elif suffix in EXTENSIONS:
        readable = reads_heif()
    if readable:
        return None
    return INSTALL


def formats_of(content: bytes, name: str, formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formats that Pillow may try on this file: `formats`, or HEIF or AVIF alone.

    Pillow's plugin for HEIF is registered when the first such file is met.
    """
    if is_avif(content):
        if not reads_avif():
            raise DataError(
                f"{name} is an AVIF image, which needs Pillow 11.3 or newer. Install it with: "
                f"{INSTALL}. Or save the image as JPEG."
            )
        return ("AVIF",)
    if not is_heif(content):
        return formats
    try:
        import pillow_heif
    except ImportError as error:
        raise DataError(
            f"{name} is a HEIC image, which needs the package pillow-heif. Install it with: "
            f"{INSTALL}. Or save the image as JPEG."
        ) from error
    pillow_heif.register_heif_opener()
    return ("HEIF",)
