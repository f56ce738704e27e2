"""`samovar compare` prints and writes the difference, and says what is wrong with a folder."""

import json

import numpy as np
import pytest
from helpers import keep_evaluation

from samovar.cli.main import main


def test_command(tmp_path, capsys):
    a, b = (
        keep_evaluation(tmp_path / "a" / "evaluation", np.array([0.5, 0.75])),
        keep_evaluation(tmp_path / "b", np.array([0.5, 0.5])),
    )
    assert main(["compare", str(a.parent), str(b), "--out", str(tmp_path / "out")]) == 0
    assert "+12.50 ± 24.50" in capsys.readouterr().out
    written = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert written["paired"]["accuracy"]["mean"] == pytest.approx(0.125)
    assert main(["compare", str(a), str(tmp_path)]) == 2
    assert f"name one of them: {b}" in capsys.readouterr().err
    assert main(["compare", str(a), str(tmp_path / "out")]) == 2
    assert "samovar evaluate" in capsys.readouterr().err
    assert main(["compare", str(a), str(b), "--first-by", "mean_classifier"]) == 2
    assert "Evaluate again" in capsys.readouterr().err
    assert main(["compare", str(a), str(b), "--first-by", "predictive_tempered"]) == 2
    assert "without --no-temperature" in capsys.readouterr().err
    for rival, words in (
        ("prototypes", "without rivals. Evaluate again with --rivals"),
        ("prototypes_tempered", "no rivals with temperatures"),
    ):
        assert main(["compare", str(a), str(b), "--second-by", rival]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
    (b / "evaluation.npz").write_bytes(b"not an npz file")
    assert main(["compare", str(a), str(b)]) == 2
    assert "cannot be read" in capsys.readouterr().err
