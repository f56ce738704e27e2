"""The summary of `samovar embed` names what was left out."""

import json
from pathlib import Path

from samovar.data.images.left_out import LeftOut
from samovar.encoders.embedding import Embedded
from samovar.encoders.vector_file import SkippedImage
from samovar.reporting.embedded import report_embedded

RESULT = Embedded(3, 2, {"name": "tiny", "length": 5}, ())


def test_the_summary_is_for_people_or_for_programs(capsys):
    assert report_embedded(RESULT, Path("v.npz"), LeftOut(), None, as_json=False) == 0
    assert "Encoded 3 images by tiny" in capsys.readouterr().out
    assert report_embedded(RESULT, Path("s3://b/v.npz"), LeftOut(), None, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["out"] == "s3://b/v.npz"


def test_skipped_images_are_named_and_the_exit_code_is_one(capsys):
    result = Embedded(3, 2, RESULT.encoder, (SkippedImage("a.jpg", "a.jpg is no image"),))
    assert report_embedded(result, Path("v.npz"), LeftOut(), None, as_json=False) == 1
    assert "a.jpg is no image" in capsys.readouterr().err
