"""Several shapes in one call are written as those of single calls, with one report."""

import base64
import json

import pytest
from helpers_images import drawn

from samovar.cli.main import main


@pytest.mark.usefixtures("trained")
def test_several_shapes_in_one_call_are_those_of_single_calls(tmp_path):
    flags = ["--queries", "4", "--episodes", "25", "--samples", "20"]
    command = ["evaluate", str(tmp_path / "run"), *flags]
    assert (
        main(
            [
                *command,
                "--way",
                "2",
                "4",
                "--shot",
                "1",
                "3",
                "--draw",
                "1",
                "--out",
                str(tmp_path / "all"),
            ]
        )
        == 0
    )
    assert main([*command, "--way", "4", "--shot", "3", "--out", str(tmp_path / "one")]) == 0
    both = [
        (tmp_path / path / "evaluation.json").read_bytes() for path in ("all/4way-3shot", "one")
    ]
    assert both[0] == both[1]
    page = (tmp_path / "all" / "report.html").read_text()
    assert page.count("<h2>") == 4
    assert page.count("data:image/png;base64,") == 1 + 4 * 4
    assert "http" not in page, "the report needs nothing from elsewhere"
    for protocol in ("2-way 1-shot", "2-way 3-shot", "4-way 1-shot", "4-way 3-shot"):
        assert f"{protocol}, 25 tasks x 4 queries per class, 20 samples, test classes" in page
    assert page.count("Probabilities on the diagonal are calibrated.</figcaption>") == 4
    for name in ("2way-1shot/episode-0.png", "accuracy.png"):
        content = (tmp_path / "all" / name).read_bytes()
        drawn(content)
        assert base64.b64encode(content).decode() in page, "the report has the same picture"


@pytest.mark.usefixtures("trained")
def test_rivals_are_printed_written_and_compared(tmp_path, capsys):
    flags = ["--way", "3", "--shot", "2", "--queries", "4", "--episodes", "25", "--samples", "8"]
    out = tmp_path / "rivals"
    command = ["evaluate", str(tmp_path / "run"), *flags, "--outside", "3", "--out", str(out)]
    assert main([*command, "--rivals"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Beside simple rivals" in printed
    assert 'AUROC for "none of these", by' in printed
    page = (out / "report.html").read_text()
    assert base64.b64encode((out / "rivals.png").read_bytes()).decode() in page
    stored = json.loads((out / "evaluation.json").read_text())["rivals"]
    by = ["--second-by", "logistic_regression_tempered", "--out", str(tmp_path / "comparison")]
    assert main(["compare", str(out), str(out), *by]) == 0
    compared = json.loads((tmp_path / "comparison" / "comparison.json").read_text())
    difference = stored["logistic_regression_tempered"]["model_minus_this"]
    for name in ("accuracy", "nll", "brier", "gap"):
        assert compared["paired"][name] == pytest.approx(difference[name], abs=1e-6)
