"""The comparison of a run with a shipped model: measured, printed and written as shipped.json."""

import json

from samovar.core.files import write_whole
from samovar.errors import DataError, ModelError
from samovar.reporting.cache import vector_cache
from samovar.reporting.progress_bar import progress_bar
from samovar.training.against_shipped import ShippedComparison, compare_with_shipped
from samovar.training.run import Run

FILE = "shipped.json"


def report_comparison(run: Run) -> ShippedComparison | None:
    """Compare a run with the best fitting shipped model; say which is better, and what to do.

    A run is not lost because it cannot be compared: then the reason is printed.
    """
    try:
        with vector_cache(wanted=True) as cache, progress_bar("comparing") as progress:
            comparison = compare_with_shipped(run, cache, progress)
            progress("done", 1.0)
    except (DataError, ModelError) as error:
        print(f"Not compared with a shipped model: {str(error).rstrip('.')}.")
        return None
    write_whole(run.folder / FILE, json.dumps(comparison.to_json(), indent=1).encode())
    print(comparison.sentence())
    print(_next(run, comparison))
    return comparison


def _next(run: Run, comparison: ShippedComparison) -> str:
    model = str(run.folder)
    if comparison.recommended == "shipped":
        model = comparison.model
    return f"Next: samovar fit --model {model} --support FOLDER --task TASK.safetensors"
