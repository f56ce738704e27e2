"""Text from files and users, as it may be shown: without control characters, and not too long."""

LONGEST_MESSAGE = 2000
"""Characters of a message on the terminal."""
FORMULA = ("=", "+", "-", "@")
"""What a cell begins with that spreadsheets take for a formula."""


def printable(text: str) -> str:
    """Return text with a question mark for every line break and control character.

    >>> printable("red\\x1b[31m")
    'red?[31m'
    """
    return "".join(character if character.isprintable() else "?" for character in text)


def shortened(text: str, most: int = LONGEST_MESSAGE) -> str:
    """Return text without its middle if it is longer than `most` characters.

    >>> shortened("abcdefghij", 4)
    'ab [... 6 characters ...] ij'
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} [... {len(text) - 2 * half:,} characters ...] {text[-half:]}"


def message(text: str) -> str:
    """Return a message as the terminal may show it, on one line or on indented further lines.

    No name of a file can look like a message of its own.
    """
    lines = [printable(line) for line in shortened(text).split("\n")]
    return "\n  ".join(lines)


def csv_cell(text: str) -> str:
    """Return text as a cell of CSV that no spreadsheet runs and no terminal obeys.

    An apostrophe comes before what looks like a formula; a plain number stays as it is.

    >>> csv_cell("=1+1"), csv_cell("-1"), csv_cell("cat")
    ("'=1+1", '-1', 'cat')
    """
    cell = "".join(_in_cell(character) for character in text)
    if cell.startswith(FORMULA) and not _is_number(cell):
        return f"'{cell}"
    return cell


def _in_cell(character: str) -> str:
    # A byte of a file name that is not text stays: standard output writes it as an escape.
    if 0xDC80 <= ord(character) <= 0xDCFF:
        return character
    return printable(character)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
