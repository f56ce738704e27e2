"""`samovar reproduce` lists its experiments, and plans without fetching anything."""

import subprocess
import sys

import pytest

from samovar.cli.main import main
from samovar.experiments.registry import experiment_names


@pytest.mark.slow
def test_help_lists_every_experiment_without_loading_torch():
    script = """
import sys
from samovar.cli.main import main
try:
    main(["reproduce", "--help"])
except SystemExit:
    pass
heavy = {"torch", "matplotlib", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    for name in (*experiment_names(), "coverage", "all"):
        assert name in done.stdout


def test_names_that_are_no_experiments_are_refused(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["reproduce", "table9"])
    assert stop.value.code == 2
    assert "calibration" in capsys.readouterr().err


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_plans_are_printed_without_data_and_nothing_is_trained(scale, tmp_path, capsys):
    folders = ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    flags = ["--scale", scale, "--plan", *folders]
    assert main(["reproduce", "table1", *flags]) == 0
    assert "no data" in capsys.readouterr().out
    assert main(["reproduce", "all", *flags, "--shell"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 30
    assert not (tmp_path / "runs").exists()


def test_the_plan_of_the_synthetic_study_says_how_long_it_takes(tmp_path, capsys):
    assert main(["reproduce", "synthetic", "--plan", "--out", str(tmp_path / "out")]) == 0
    assert "about 3 minutes" in capsys.readouterr().out


def test_beyond_the_paper_there_is_no_scale_of_the_paper(tmp_path, capsys):
    assert main(["reproduce", "shots", "--scale", "paper", "--out", str(tmp_path)]) == 2
    assert "beyond the paper" in capsys.readouterr().err


def test_fewer_than_one_job_is_refused(tmp_path, capsys):
    assert main(["reproduce", "table1", "--jobs", "0", "--out", str(tmp_path)]) == 2
    assert "--jobs must be at least 1" in capsys.readouterr().err


def test_plans_and_coverage_fetch_nothing(data_folder, tmp_path, capsys):
    folders = ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    for flags in (["table3", "--plan"], ["coverage"], ["table1", "--measured-only"]):
        assert main(["reproduce", *flags, *folders]) == 0
    assert not list(data_folder.glob("*"))
    output = capsys.readouterr().out
    assert "0 of 6 runs are to be trained" in output
    assert (
        f"Written: {tmp_path / 'out' / 'table1.json'}, {tmp_path / 'out' / 'table1.md'}" in output
    )
