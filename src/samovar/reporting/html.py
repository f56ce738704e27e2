"""report.html: an evaluation to be looked at, in one file with its pictures inside."""

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

from samovar.reporting.figures.evaluation import WAYS, predictors_of

NONE = "-"
"""The cell of a figure that a way of predicting does not have."""
Section = tuple[dict[str, Any], dict[str, bytes]]
"""The summary of an evaluation, and its pictures by caption."""

LEGEND = (
    "NLL: negative log-likelihood. ECE: expected calibration error, 15 bins, all queries pooled. AUROC: how well the "
    "measure finds wrong answers, or queries whose class is not in the task (0.5 is chance). Distance: 1 - the cosine "
    "to the nearest class mean. Intervals are 95 %, over tasks."
)
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd;
     padding-top: 1rem; }
p.protocol { color: #555; margin-top: .2rem; } figure { margin: 1.5rem 0; } figcaption { color: #555; }
img { max-width: 100%; } table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #e5e5e5; }
th:first-child, td:first-child { text-align: left; } .scroll { overflow-x: auto; }
"""


def percent(figure: dict[str, float]) -> str:
    """A mean with its interval, in percent."""
    return f"{100 * figure['mean']:.2f} ± {100 * figure['ci95']:.2f}"


def figure_rows(summary: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The figures of every way of predicting, as rows of text: for the terminal and for the report."""
    ways = list(predictors_of(summary).values())
    rows = [("accuracy, %", [percent(each["accuracy"]) for each in ways])]
    for name, label in (("nll", "NLL"), ("brier", "Brier score")):
        rows.append(
            (label, [f"{each[name]['mean']:.4f} ± {each[name]['ci95']:.4f}" for each in ways])
        )
    errors = [(each["ece"]["value"], *each["ece"]["ci95"]) for each in ways]
    rows.append(("ECE", [f"{v:.4f} ({low:.4f} to {high:.4f})" for v, low, high in errors]))
    for kind, label in (
        ("wrong_auroc", "AUROC wrong answers"),
        ("outside_auroc", "AUROC none of these"),
    ):
        for measure in ("max_probability", "entropy", "mutual_information", "distance"):
            cells = [_auroc(each["uncertainty"].get(measure), kind) for each in ways]
            if any(cell != NONE for cell in cells):
                rows.append(
                    (f"{label}: {measure.replace('_', ' ').replace('max ', 'top ')}", cells)
                )
    if any("temperature" in each for each in ways):
        rows.append(
            (
                "temperature",
                [f"{each['temperature']:.3f}" if "temperature" in each else NONE for each in ways],
            )
        )
    return rows


def _auroc(measure: dict[str, Any] | None, kind: str) -> str:
    if measure is None or measure[kind] is None:
        return NONE
    return f"{measure[kind]['value']:.3f} ± {measure[kind]['ci95']:.3f}"


def html_report(title: str, sections: Sequence[Section], pictures: dict[str, bytes]) -> str:
    """A page: a section for each evaluation with its pictures (by caption), and pictures of the whole."""
    parts = [_picture(caption, content) for caption, content in pictures.items()]
    for summary, own in sections:
        parts.append(f"<h2>{escape(_shape(summary))}</h2>")
        parts.append(f'<p class="protocol">{escape(summary["protocol"]["text"])}</p>')
        parts.append(_table(summary))
        note = escape(summary["temperature_note"])
        parts.append(f"<p>{LEGEND} Temperatures: {note}.</p>")
        parts += [_picture(caption, content) for caption, content in own.items()]
    model = sections[0][0]["model"]
    about = f"{model['method']} with {model['backbone']}, {model['classifier']} classifier; {sections[0][0]['data']}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f'<h1>{escape(title)}</h1><p class="protocol">{escape(about)}</p>{"".join(parts)}</body></html>\n'
    )


def _shape(summary: dict[str, Any]) -> str:
    return f"{summary['protocol']['way']}-way {summary['protocol']['shot']}-shot"


def _table(summary: dict[str, Any]) -> str:
    heads = "".join(f"<th>{escape(WAYS[name][0])}</th>" for name in predictors_of(summary))
    rows = "".join(
        f"<tr><td>{escape(label)}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for label, cells in figure_rows(summary)
    )
    return f'<div class="scroll"><table><tr><th></th>{heads}</tr>{rows}</table></div>'


def _picture(caption: str, content: bytes) -> str:
    data = base64.b64encode(content).decode()
    width = (
        int.from_bytes(content[16:20]) // 2
    )  # from the PNG's header; half, for screens with fine pixels
    return (
        f'<figure><img alt="{escape(caption)}" width="{width}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
