"""The report shows every evaluation, needs nothing from elsewhere, and does not trust names."""

from helpers_evaluation import make_results, make_rivals

from samovar.reporting.html import Section, html_report
from samovar.settings.model import ModelSettings
from samovar.settings.tasks import Protocol

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + (200).to_bytes(4) + b"\0" * 8


def test_reports_do_not_trust_names():
    hostile = make_results(
        data="<script>", temperature_note="<script>", norm="<script>", model_identity="<b>"
    )
    page = html_report("<script>alert(1)</script>", [Section(hostile, {"<b>": PNG})], {})
    assert "<script>" not in page
    assert "<b>" not in page


def test_a_report_has_a_section_for_each_evaluation_and_its_pictures_inside():
    sections = []
    for shot in (1, 5):
        results = make_results(protocol=Protocol(5, shot, 3, episodes=6))
        sections.append(Section(results, {f"picture {shot}": PNG}))
    page = html_report("Evaluation", sections, {"the whole": PNG})
    assert page.index("the whole") < page.index("<h2>5-way 1-shot</h2>")
    assert page.index("<h2>5-way 1-shot</h2>") < page.index("<h2>5-way 5-shot</h2>")
    assert page.count("data:image/png;base64,") == 3
    assert 'width="100"' in page, "half the pixels of the picture"
    assert "http" not in page


def test_a_report_says_what_was_evaluated():
    results = make_results(model=ModelSettings(backbone="conv4", size=12, width=4))
    page = html_report("Evaluation", [Section(results, {})], {})
    assert "samovar with conv4" in page
    assert results.protocol_text in page
    assert "Temperatures: fitted on 300 tasks." in page
    assert page.count("<th>") == 6, "a name column and five predictors"


def test_a_report_begins_with_plain_words_for_every_evaluation():
    one = Section(make_results(protocol=Protocol(5, 1, 3, episodes=6)), {})
    five = Section(make_results(protocol=Protocol(5, 5, 3, episodes=6)), {})
    page = html_report("Evaluation of runs/pets", [one], {})
    assert "<title>Evaluation of runs/pets</title>" in page
    assert page.index("of 100 answers are right") < page.index("<h2>")
    page = html_report("Evaluation of runs/pets", [one, five], {})
    assert page.count("of 100 answers are right") == 2
    assert page.index("5-way 5-shot: ") < page.index("<h2>")


def test_a_report_shows_rivals_where_they_were_measured():
    results = make_results(rivals=make_rivals())
    page = html_report("Evaluation", [Section(results, {})], {})
    assert "Beside simple rivals" in page
    assert "discriminant (LDA)" in page
    assert "Their temperatures: fitted on 300 tasks." in page
    assert "rivals" not in html_report("Evaluation", [Section(make_results(), {})], {})
