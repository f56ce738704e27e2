"""check.html: what may be wrong with the images of a task, with the pictures, in one file."""

import base64
import io
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from PIL import Image

from samovar.classifier.check_report import CheckReport, Duplicates, SuspectLabel
from samovar.reporting.html import STYLE

MOST_PICTURES = 300
"""Pictures of a page; of the rest it has the names."""
QUALITY = 80
MORE_STYLE = """
ul.pictures { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 1rem; }
ul.pictures li { width: 11rem; font-size: .85rem; overflow-wrap: anywhere; }
ul.pictures img { display: block; width: 100%; height: 9rem; object-fit: contain;
                  background: #f3f3f3; }
.group { border-left: 4px solid #ddd; padding-left: 1rem; margin: 1rem 0; }
.across { border-color: #D55E00; }
"""

Show = Callable[[Any], Image.Image | None]
"""Returns the picture of an image by its name; None where there is none."""


def check_page(title: str, report: CheckReport, show: Show) -> str:
    """Return the page; `show` gives the pictures of the images that it names."""
    pictures = _Pictures(show)
    sections = [
        _suspects(report.suspects, pictures),
        _duplicates(report.duplicates, pictures),
        _mixed(report),
        _small(report),
        _camera(report),
    ]
    heading = escape(title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}{MORE_STYLE}</style>'
        f"</head><body><h1>{heading}</h1>"
        f'<p class="summary">{escape(summary(report))}</p>{"".join(sections)}</body></html>\n'
    )


def summary(report: CheckReport) -> str:
    """Return what was found, in a sentence."""
    if report.clean:
        return f"{report.images} images were checked, and nothing was found."
    found = []
    counts: Mapping[str, int] = {
        "probably wrong label": len(report.suspects),
        "group of duplicates": len(report.duplicates or ()),
        "pair of classes that cannot be told apart": len(report.mixed),
        "class with too few images": len(report.small),
    }
    for words, count in counts.items():
        if count:
            found.append(f"{count} {_plural(words, count)}")
    if report.camera is not None and report.camera.changed:
        found.append("new images from another camera")
    return f"{report.images} images were checked. Found: {', '.join(found)}."


def _plural(words: str, count: int) -> str:
    """Return words for several things.

    >>> _plural("pair of classes", 2), _plural("probably wrong label", 2)
    ('pairs of classes', 'probably wrong labels')
    """
    if count == 1:
        return words
    if words.startswith("class "):
        return words.replace("class ", "classes ", 1)
    for noun in ("group", "pair"):
        if words.startswith(f"{noun} "):
            return words.replace(noun, f"{noun}s", 1)
    return f"{words}s"


class _Pictures:
    """The pictures of a page, as many as it may have."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self.shown = 0

    def item(self, image: Any, text: str) -> str:
        """Return an item of a list: the picture, the name and a text."""
        picture = None
        if self.shown < MOST_PICTURES:
            picture = self.show(image)
        tag = ""
        if picture is not None:
            self.shown += 1
            buffer = io.BytesIO()
            picture.convert("RGB").save(buffer, "JPEG", quality=QUALITY)
            data = base64.b64encode(buffer.getvalue()).decode()
            tag = f'<img alt="" src="data:image/jpeg;base64,{data}">'
        return f"<li>{tag}<b>{escape(str(image))}</b><br>{escape(text)}</li>"


def _section(title: str, explanation: str, content: str) -> str:
    if not content:
        return ""
    return f"<h2>{escape(title)}</h2><p>{escape(explanation)}</p>{content}"


def _suspects(suspects: Sequence[SuspectLabel], pictures: _Pictures) -> str:
    items = []
    for suspect in suspects:
        text = f"{suspect.label}? More like {suspect.answer} (wrong: {suspect.wrong:.0%})"
        items.append(pictures.item(suspect.image, text))
    content = f'<ul class="pictures">{"".join(items)}</ul>' if items else ""
    explanation = (
        "The other images say that these labels are probably wrong. Images that are suspected have "
        "no say about others."
    )
    return _section("Probably wrong labels", explanation, content)


def _duplicates(groups: Sequence[Duplicates] | None, pictures: _Pictures) -> str:
    parts = []
    for group in groups or ():
        items = []
        for image, label in zip(group.images, group.labels, strict=True):
            items.append(pictures.item(image, str(label)))
        kind = "group across" if group.across else "group"
        parts.append(f'<div class="{kind}"><ul class="pictures">{"".join(items)}</ul></div>')
    explanation = (
        "The same picture more than once. Within a class it says nothing new and makes every "
        "estimate too hopeful; in two classes (orange) one of the labels is wrong."
    )
    return _section("Duplicates", explanation, "".join(parts))


def _mixed(report: CheckReport) -> str:
    rows = []
    for pair in report.mixed:
        names = f"<td>{escape(str(pair.first))}</td><td>{escape(str(pair.second))}</td>"
        rows.append(f"<tr>{names}<td>{pair.mistakes} of {pair.images}</td></tr>")
    content = ""
    if rows:
        head = "<tr><th>class</th><th>and</th><th>taken for the other</th></tr>"
        content = f"<table>{head}{''.join(rows)}</table>"
    explanation = "Give them more images, join them, or say what tells them apart."
    return _section("Classes that cannot be told apart", explanation, content)


def _small(report: CheckReport) -> str:
    rows = []
    for entry in report.small:
        rows.append(f"<tr><td>{escape(str(entry.label))}</td><td>{entry.images}</td></tr>")
    content = ""
    if rows:
        head = "<tr><th>class</th><th>different images</th></tr>"
        content = f"<table>{head}{''.join(rows)}</table>"
    return _section("Classes with too few images", "Five of each will do.", content)


def _camera(report: CheckReport) -> str:
    if report.camera is None:
        return ""
    return f"<h2>New images</h2><p>{escape(camera_text(report))}</p>"


def camera_text(report: CheckReport) -> str:
    """Return what the comparison with new images says, in sentences."""
    camera = report.camera
    if camera is None:
        return ""
    chance = f"p = {camera.probability_of_chance:.3f}, {camera.shift:.1f} times as far as by chance"
    if not camera.changed:
        return f"The new images may come from the same camera and place ({chance})."
    return (
        f"The new images seem to come from another camera or place ({chance}). Accuracy may be far "
        "lower than leave-one-out says: label some of the new images as well."
    )
