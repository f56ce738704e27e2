"""`samovar synthetic` writes the same files twice."""

import json

from helpers_images import has_color

from samovar.cli.main import main
from samovar.reporting.figures.synthetic import METHODS

FEW = ["--seeds", "2", "--monte-carlo-seeds", "1", "--steps", "2"]
TINY = [*FEW, "--samples", "1", "2", "--sigma-y", "0.5"]


def test_synthetic_writes_its_files_twice_the_same(tmp_path):
    contents = []
    for folder in ("one", "two"):
        assert main(["synthetic", *TINY, "--out", str(tmp_path / folder)]) == 0
        contents.append((tmp_path / folder / "synthetic.json").read_bytes())
        picture = (tmp_path / folder / "synthetic.png").read_bytes()
        for style in METHODS.values():
            assert has_color(picture, style.color), style.label
    assert contents[0] == contents[1]
    result = json.loads(contents[0])
    assert {row["method"] for row in result["results"]} == {"exact", "monte_carlo", "variational"}
    for row in result["results"]:
        assert set(row["variance_ratio"]) == {"mean", "std", "seeds"}
        assert (row["samples"] is None) == (row["method"] == "exact")


def test_quick_is_a_smaller_study(tmp_path):
    flags = ["--quick", "--steps", "3", "--seeds", "31", "--samples", "1", "--sigma-y", "0.5"]
    assert main(["synthetic", *flags, "--out", str(tmp_path)]) == 0
    settings = json.loads((tmp_path / "synthetic.json").read_text())["settings"]
    assert (settings["seeds"], settings["monte_carlo_seeds"], settings["steps"]) == (30, 5, 3)
