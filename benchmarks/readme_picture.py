"""Draw docs/answers.png: five photographs of each of five products, and answers to new ones.

    python benchmarks/readme_picture.py grocery-photos.zip --out docs/answers.png

The archive has folders of 20 products. They are chosen by a rule and not by hand: the first five by
name are learned from their first five photographs each, and their next eight are asked; of the
last six, which are none of these, the first five are asked. Shown are the first photograph that was
asked of each product, and the second one of the first.
"""

import io
import operator
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import tyro
from PIL import Image

from samovar import FewShotClassifier
from samovar.core.files import write_whole
from samovar.reporting.answers import answer_rows
from samovar.reporting.figures.answers import answers_figure

CLASSES = 5
OTHERS = 6
EXAMPLES = 5
QUESTIONS = 8
SHOWN = 224


def products(folder: Path) -> list[list[Path]]:
    """Return the photographs of each product, both in the order of their names."""
    names = sorted({path.parent for path in folder.rglob("*.jpg")})
    return [sorted(name.glob("*.jpg")) for name in names]


def thumbnail(path: Path) -> np.ndarray:
    """Return the central square of a photograph."""
    with Image.open(path) as image:
        side = min(image.size)
        left = (image.width - side) // 2
        top = (image.height - side) // 2
        square = image.convert("RGB").crop((left, top, left + side, top + side))
        return np.asarray(square.resize((SHOWN, SHOWN)))


def main(archive: Path, /, out: Path) -> None:
    """Fit, ask and draw.

    Args:
        archive: The zip archive of grocery photographs.
        out: The picture to write.
    """
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(archive) as opened:
        opened.extractall(scratch)
        every = products(Path(scratch))
        learned = every[:CLASSES]
        others = every[-OTHERS:]
        support = [path for paths in learned for path in paths[:EXAMPLES]]
        asked = [path for paths in learned for path in paths[EXAMPLES : EXAMPLES + QUESTIONS]]
        strangers = [path for paths in others for path in paths[:EXAMPLES]]
        classifier = FewShotClassifier(reject=0.05)
        classifier.fit(support, [path.parent.name for path in support])
        answers = classifier.predict([*asked, *strangers]).tolist()
        truth = [path.parent.name for path in asked]
        right = sum(map(operator.eq, answers, truth))
        rejected = answers[: len(asked)].count("none of these")
        recognised = answers[len(asked) :].count("none of these")
        print(f"{right} of {len(asked)} that belong are right, {rejected} of them rejected;")
        print(f"{recognised} of {len(strangers)} others are none of these.")
        shown = [asked[0], *asked[1::QUESTIONS], *strangers[::EXAMPLES]]
        rows = answer_rows(shown, classifier.answer(shown), classifier.classes_)
        figure = answers_figure([thumbnail(path) for path in shown], rows)
        write_whole(out, with_few_colours(figure))


def with_few_colours(figure: bytes) -> bytes:
    """Return a PNG file of 256 colours, a tenth as large."""
    file = io.BytesIO()
    with Image.open(io.BytesIO(figure)) as image:
        smaller = image.convert("RGB").resize((image.width * 2 // 3, image.height * 2 // 3))
        smaller.quantize(256).save(file, "PNG", optimize=True)
    return file.getvalue()


if __name__ == "__main__":
    tyro.cli(main)
