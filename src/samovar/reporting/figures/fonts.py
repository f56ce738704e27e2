"""Fonts that have the characters of class names in any script.

Matplotlib brings DejaVu Sans, which has Latin, Greek, Cyrillic and more, but no Chinese or
Japanese. For characters that it lacks, the fonts of the system are looked through. What no font
has is written as its code point, such as U+8594, rather than as an empty box.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from matplotlib.font_manager import fontManager
from matplotlib.ft2font import FT2Font

USUAL = "DejaVu Sans"
PLACEHOLDERS = ("Last Resort", "LastResort")
"""Fonts that have a box for every character."""
INVISIBLE = ("Mn", "Me", "Cf")
"""Categories of characters that only change others: marks, and what directs the writing."""


@dataclass(frozen=True)
class Fonts:
    """Fonts for some texts: the usual one, and those that have what it lacks."""

    families: list[str]
    missing: frozenset[str]
    """Characters that no font of the system has."""

    @classmethod
    def for_texts(cls, texts: Iterable[str]) -> "Fonts":
        """Find fonts that have all characters of the texts, as far as there are any."""
        wanted = set("".join(texts)) - _characters(_usual_path()) - set("\n")
        families = [USUAL]
        if wanted:
            for family, path in _system_fonts():
                found = wanted & _characters(path)
                if found:
                    families.append(family)
                    wanted -= found
                if not wanted:
                    break
        return cls(families, frozenset(wanted))

    def drawable(self, text: str) -> str:
        """Return the text with the code points of characters that cannot be drawn."""
        if not self.missing:
            return text
        drawn = []
        for character in text:
            if character not in self.missing:
                drawn.append(character)
            elif unicodedata.category(character) not in INVISIBLE:
                drawn.append(f" U+{ord(character):04X} ")
        return re.sub(" +", " ", "".join(drawn)).strip()


def _usual_path() -> str:
    return str(fontManager.findfont(USUAL))


def _system_fonts() -> list[tuple[str, str]]:
    """Return the families and files of all plain fonts, in a fixed order."""
    fonts = []
    for entry in fontManager.ttflist:
        if entry.style == "normal" and not entry.name.startswith(PLACEHOLDERS):
            fonts.append((str(entry.name), str(entry.fname)))
    return sorted(set(fonts))


@lru_cache(maxsize=512)
def _characters(path: str) -> frozenset[str]:
    """Return the characters that a font has; none if it cannot be read."""
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError, ValueError):  # a font of the system may be damaged
        return frozenset()
