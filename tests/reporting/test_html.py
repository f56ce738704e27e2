"""Reports do not trust names."""

from samovar.reporting.html import html_report


def test_reports_do_not_trust_names():
    page = html_report("<script>alert(1)</script>", [(hostile_summary(), {"<b>": b"0" * 24})], {})
    assert "<script>" not in page
    assert "<b>" not in page


def hostile_summary() -> dict:
    figure = {"mean": 0.5, "ci95": 0.1}
    nothing = dict.fromkeys(("max_probability", "entropy", "mutual_information"))
    return {
        "protocol": {"way": 5, "shot": 1, "text": "<script>x</script>"},
        "model": {"method": "samovar", "backbone": "<b>", "classifier": "linear"},
        "data": "<script>",
        "temperature_note": "<script>",
        "accuracy": figure,
        "nll": figure,
        "brier": figure,
        "ece": {"value": 0.1, "ci95": [0.0, 0.2]},
        "uncertainty": nothing,
    }
