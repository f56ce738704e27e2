"""What `samovar embed` says when it has finished."""

import json
from pathlib import Path

from samovar.core.storage import shown
from samovar.data.images.left_out import LeftOut
from samovar.data.images.user_images import Unreadable
from samovar.encoders.embedding import Embedded
from samovar.encoders.vector_cache import VectorCache
from samovar.reporting.terminal import report_left_out, report_skipped


def report_embedded(
    result: Embedded, out: Path, left_out: LeftOut, cache: VectorCache | None, *, as_json: bool
) -> int:
    """Print what came of embedding images; return the exit code, 1 if some were left out."""
    if as_json:
        print(json.dumps(_summary(result, out, cache), indent=1))
    else:
        _print_summary(result, out, cache)
    missed = report_left_out(left_out)
    skipped = [Unreadable(Path(image.path), image.reason) for image in result.skipped]
    return max(missed, report_skipped(skipped))


def _summary(result: Embedded, out: Path, cache: VectorCache | None) -> dict[str, object]:
    facts = None
    if cache is not None:
        cache.flush()
        facts = {"file": str(cache.path), "bytes": cache.used, "limit": cache.limit}
    return {"out": shown(out)} | result.to_json() | {"cache": facts}


def _print_summary(result: Embedded, out: Path, cache: VectorCache | None) -> None:
    encoder = result.encoder
    if result.already_there:
        print(f"{shown(out)} was finished before, from the same images by the same encoder.")
    else:
        reused = result.from_cache + result.resumed
        print(f"Encoded {result.images} images by {encoder['name']}; {reused} were known before.")
        content = f"{result.classes} labels, vectors of {encoder['length']} numbers"
        print(f"Written: {shown(out)} ({content})")
    if cache is not None:
        cache.flush()
        print(
            f"Cache: {cache.path} ({cache.used / 1e6:.0f} MB of at most {cache.limit / 1e6:.0f} MB)"
        )
