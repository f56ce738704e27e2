"""Work reports to whoever watches, or to nobody."""

from samovar.core.progress import Progress, Watch, event, silent


def test_one_function_ignores_all_news():
    progress: Progress = silent
    watch: Watch = silent
    assert progress("tasks", 0.5) is None
    assert watch(event("resuming after update 3")) is None


def test_events_reach_a_watch_as_documented():
    lines: list[dict] = []
    watch: Watch = lines.append
    watch(event("preparing glyphs"))
    assert lines == [{"event": "preparing glyphs"}]
