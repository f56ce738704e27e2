"""HEIC photographs, as telephones take them, through the optional package `pillow-heif`."""

from samovar.errors import DataError

EXTENSIONS = (".heic", ".heif")
BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""What the bytes 8 to 12 of such a file may be."""


def is_heif(content: bytes) -> bool:
    """Tell whether these are the bytes of a HEIC or HEIF file, whatever it is called.

    >>> is_heif(bytes(4) + b"ftypheic")
    True
    """
    return content[4:8] == b"ftyp" and content[8:12] in BRANDS


def formats_of(content: bytes, name: str, formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formats that Pillow may try on this file: `formats`, or HEIF alone.

    Pillow's plugin for HEIF is registered when the first such file is met.
    """
    if not is_heif(content):
        return formats
    try:
        import pillow_heif
    except ImportError as error:
        raise DataError(
            f"{name} is a HEIC image, which needs the package pillow-heif. Install it with: "
            "pip install 'samovar[heic]'. Or save the image as JPEG."
        ) from error
    pillow_heif.register_heif_opener()
    return ("HEIF",)
