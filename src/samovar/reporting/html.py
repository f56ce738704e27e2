"""report.html: an evaluation as a page, in one file with its pictures inside."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from samovar.evaluation.results import EvaluationResults
from samovar.reporting.evaluation_tables import metric_rows
from samovar.reporting.plain_words import in_plain_words
from samovar.reporting.rival_tables import rival_tables

LEGEND = (
    "NLL: negative log-likelihood. ECE: expected calibration error over 15 bins, of all queries "
    "pooled, and as a mean over single tasks, which is biased upward. Gap: the mean top "
    "probability minus the accuracy; above zero the answers are too sure, below zero too modest. "
    "AUROC: how well the measure finds wrong answers, or queries whose class is not in the "
    "task (0.5 is chance). Energy: minus the log of the sum of exp(logit), of the classifier at "
    "the mean. Distance: {distance}. Intervals are 95 %, over tasks."
)
RIVALS_LEGEND = (
    "Rivals are fitted to the support of each task, on the features that the model has. Logistic "
    "regression: scikit-learn's, on features of length 8. Prototypes: minus the squared distance "
    "to the class means. Discriminant analysis (LDA): one covariance for all classes, shrunk by "
    "Ledoit and Wolf. Nearest centroid: ten times the cosine to the class means. Their distance "
    "is one minus the cosine to the nearest class mean. Probability: a low highest one. By task: "
    "the mean of the errors of single tasks, which is biased upward."
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
p.summary { font-size: 1.15rem; }
p.protocol { color: #555; margin-top: .2rem; }
figure { margin: 1.5rem 0; }
figcaption { color: #555; }
img { max-width: 100%; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #e5e5e5; }
th:first-child, td:first-child { text-align: left; }
.scroll { overflow-x: auto; }
"""

Pictures = dict[str, bytes]
"""PNG files by their caption."""


@dataclass(frozen=True)
class Section:
    """One evaluation of a report, with its pictures."""

    results: EvaluationResults
    pictures: Pictures


def html_report(title: str, sections: Sequence[Section], pictures: Pictures) -> str:
    """Return a page with the pictures of the whole, then a section for each evaluation."""
    content = _pictures(pictures)
    for section in sections:
        content += _section(section)
    heading = escape(title)
    about = escape(_about(sections[0].results))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f'<h1>{heading}</h1><p class="protocol">{about}</p>{_summary(sections)}{content}'
        "</body></html>\n"
    )


def _summary(sections: Sequence[Section]) -> str:
    """Return a paragraph in plain words for each evaluation; several are told apart."""
    paragraphs = []
    for section in sections:
        protocol = section.results.protocol
        words = in_plain_words(section.results)
        if len(sections) > 1:
            words = f"{protocol.way}-way {protocol.shot}-shot: {words}"
        paragraphs.append(f'<p class="summary">{escape(words)}</p>')
    return "".join(paragraphs)


def _about(results: EvaluationResults) -> str:
    return f"{results.model_text}; {results.data}"


def _section(section: Section) -> str:
    results = section.results
    protocol = results.protocol
    legend = LEGEND.format(distance=results.distance_text)
    parts = [
        f"<h2>{protocol.way}-way {protocol.shot}-shot</h2>",
        f'<p class="protocol">{escape(results.protocol_text)}</p>',
        _table(results),
        f"<p>{legend} Temperatures: {escape(results.temperature_note)}.</p>",
        _rivals(results),
        _pictures(section.pictures),
    ]
    return "".join(parts)


def _rivals(results: EvaluationResults) -> str:
    """Return the tables of the model beside its rivals, where they were measured."""
    if results.rivals is None:
        return ""
    parts = []
    for table in rival_tables(results):
        rows = [_table_row("th", table.columns[0], table.columns[1:])]
        rows += [_table_row("td", row[0], row[1:]) for row in table.rows]
        parts.append(f"<h3>{escape(table.title)}</h3>{_scrolling(rows)}")
    parts.append(f"<p>{RIVALS_LEGEND} Their temperatures: {escape(results.rivals.note)}.</p>")
    return "".join(parts)


def _table(results: EvaluationResults) -> str:
    labels = [predictor.label for predictor in results.metrics]
    rows = [_table_row("th", "", labels)]
    for label, cells in metric_rows(results):
        rows.append(_table_row("td", label, cells))
    return _scrolling(rows)


def _scrolling(rows: list[str]) -> str:
    """Return a table that scrolls by itself where it is wider than the page."""
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


def _table_row(tag: str, label: str, cells: list[str]) -> str:
    texts = [f"<{tag}>{escape(text)}</{tag}>" for text in (label, *cells)]
    return f"<tr>{''.join(texts)}</tr>"


def _pictures(pictures: Pictures) -> str:
    return "".join(_picture(caption, content) for caption, content in pictures.items())


def _picture(caption: str, content: bytes) -> str:
    data = base64.b64encode(content).decode()
    # Bytes 16 to 19 of a PNG are its width. At half of it, pictures stay sharp on screens with
    # fine pixels.
    width = int.from_bytes(content[16:20]) // 2
    return (
        f'<figure><img alt="{escape(caption)}" width="{width}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
