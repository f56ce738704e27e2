"""`samovar reproduce` prints plans without data and fetches nothing for them."""

import pytest

from samovar.cli.main import main


@pytest.mark.parametrize("scale", ["cpu", "paper"])
def test_plans_are_printed_without_data_and_nothing_is_trained(scale, tmp_path, capsys):
    flags = [
        "--scale",
        scale,
        "--plan",
        "--runs",
        str(tmp_path / "runs"),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["reproduce", "table1", *flags]) == 0
    assert "no data" in capsys.readouterr().out
    assert main(["reproduce", "all", *flags, "--shell"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 30
    assert not (tmp_path / "runs").exists()


def test_beyond_the_paper_there_is_no_scale_of_the_paper(tmp_path, capsys):
    assert main(["reproduce", "shots", "--scale", "paper", "--out", str(tmp_path)]) == 2
    assert "beyond the paper" in capsys.readouterr().err


def test_plans_and_coverage_fetch_nothing(data_folder, tmp_path, capsys):
    for flags in (["table3", "--plan"], ["coverage"], ["table1", "--measured-only"]):
        assert (
            main(
                [
                    "reproduce",
                    *flags,
                    "--runs",
                    str(tmp_path / "runs"),
                    "--out",
                    str(tmp_path / "out"),
                ]
            )
            == 0
        )
    assert not list(data_folder.glob("*"))
    assert "0 of 6 runs are to be trained" in capsys.readouterr().out
