"""Progress is shown on standard error, names and all, and a quiet bar shows nothing."""

from samovar.reporting.progress_bar import progress_bar


def test_the_bar_shows_what_was_done_on_standard_error(capsys):
    with progress_bar("preparing [bold]pets[/bold]") as progress:
        progress("reading", 0.5)
        progress("writing", 1.0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "100%" in captured.err
    assert "preparing [bold]pets[/bold]" in captured.err, "names are no markup"


def test_work_that_stops_early_leaves_its_last_step(capsys):
    with progress_bar("study") as progress:
        progress("half of it", 0.5)
    assert "50%" in capsys.readouterr().err


def test_a_quiet_bar_shows_nothing(capsys):
    with progress_bar("study", quiet=True) as progress:
        progress("half of it", 0.5)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_names_do_not_change_the_terminal(capsys):
    with progress_bar("preparing \x1b[31m[/red]") as progress:
        progress("\x1b]0;title\x07[/bold]", 0.5)
    assert "?]0;title?[/bold]" in capsys.readouterr().err
