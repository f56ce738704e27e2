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


def test_one_run_is_named_instead_of_an_experiment(tmp_path, capsys):
    folders = ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    assert main(["reproduce", *folders]) == 2
    assert "--cell" in capsys.readouterr().err
    assert main(["reproduce", "--cell", "cifar_fs-conv4-samova-5shot-seed0", *folders]) == 2
    assert "Did you mean cifar_fs-conv4-samovar-5shot-seed0?" in capsys.readouterr().err
    assert main(["reproduce", "table1", "--cell", "x", *folders]) == 2
    assert "leave out NAME" in capsys.readouterr().err


def test_what_is_measured_elsewhere_makes_tables_elsewhere(tmp_path, capsys):
    """Evidence is fetched from an address, and the table is sent there."""
    there = f"file://{tmp_path}/there"
    folders = ["--runs", str(tmp_path / "runs"), "--out", there]
    assert main(["reproduce", "table3", "--measured-only", *folders]) == 0
    assert f"Written: {there}/table3.json" in capsys.readouterr().out
    assert (tmp_path / "there" / "table3.md").exists()


def test_nothing_is_trained_by_an_engine_if_only_the_measured_is_wanted(tmp_path, capsys):
    folders = ["--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]
    flags = ["--measured-only", "--ray", "127.0.0.1:1"]  # where there is none
    assert main(["reproduce", "longer", *flags, *folders]) == 0
    assert "Written" in capsys.readouterr().out


def test_tables_reach_their_address_although_a_run_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # nothing can be downloaded
    there = f"file://{tmp_path}/there"
    assert main(["reproduce", "longer", "--runs", str(tmp_path / "runs"), "--out", there]) == 2
    assert "failed" in capsys.readouterr().err
    assert (tmp_path / "there" / "longer.json").exists()


@pytest.mark.slow
def test_pieces_that_fail_are_named_and_the_table_is_made_of_the_rest(
    tmp_path, monkeypatch, capsys
):
    """Without data every training fails at once, in a process of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")  # nothing can be downloaded
    assert main(["reproduce", "longer", "--slurm", "local", "--out", "out"]) == 2
    captured = capsys.readouterr()
    assert "6 of 6 pieces failed" in captured.err
    assert "samovar-logs" in captured.err
    assert "Written: out/longer.json" in captured.out
    log = tmp_path / "samovar-logs" / "cifar_fs-conv4-versa-5shot-10000-seed0.log"
    assert "cifar" in log.read_text()


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
