"""`samovar embed FOLDER --encoder NAME --out FILE.npz`."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

if TYPE_CHECKING:
    from samovar.encoders.embedding import Embedded
    from samovar.encoders.vector_cache import VectorCache


def embed(  # noqa: PLR0913 (a flag each)
    images: Annotated[Path, tyro.conf.Positional],
    *,
    out: Path,
    encoder: str = "efficientnet_lite0",
    preprocessing: str | None = None,
    shard: str | None = None,
    dtype: Literal["float32", "float16"] = "float32",
    cache: bool = True,
    json: bool = False,
) -> int:
    """Turn images into vectors by a pretrained network, for `samovar train features --root FILE`.

    The file has the arrays features, labels, paths and encoder, and split if the class folders are
    in train/, val/ and test/. If the command is interrupted, the
    same command continues where it stopped; if the file is finished already, nothing is done. An
    image that cannot be read is named and left out, and the exit code is 1.

    Args:
        images: A folder with one folder per class (perhaps inside train/, val/ and test/), a
            folder of images, a zip archive of either, or a text file with one path in each line
            (and perhaps a tab and a label).
        out: The file to write, such as photos.npz.
        encoder: efficientnet_lite0, efficientnet_lite2, or the path of an ONNX file.
        preprocessing: How images are prepared for an ONNX file: imagenet, clip, siglip, or a JSON
            file. Without it, a JSON file beside the ONNX file is read.
        shard: Encode only a part of the images: 1/4 is the first of four.
        dtype: Type of the stored numbers.
        cache: Keep the vectors, so that the same image is encoded once (at most 1 GB in all, in
            the folder of the variable SAMOVAR_CACHE).
        json: Print a summary as JSON.
    """
    from samovar.data.images.user_images import Unreadable
    from samovar.encoders.embedding import embed as embed_images
    from samovar.encoders.image_list import images_to_embed, shard_of
    from samovar.encoders.registry import find_encoder
    from samovar.encoders.vector_cache import PATIENCE
    from samovar.errors import DataError
    from samovar.reporting.cache import vector_cache
    from samovar.reporting.progress_bar import progress_bar
    from samovar.reporting.terminal import report_left_out, report_skipped

    found_images = images_to_embed(images)
    listed = shard_of(found_images.images, shard)
    if not listed:
        raise DataError(f"The shard {shard} of {images} is empty: there are fewer images.")
    found = find_encoder(encoder, preprocessing, remember=cache)
    with vector_cache(wanted=cache, patience=PATIENCE) as vectors:
        with progress_bar(f"encoding {images}") as progress:
            result = embed_images(
                listed, found, out, precision=dtype, cache=vectors, progress=progress
            )
        if json:
            print(json_format.dumps(_summary(result, out, vectors), indent=1))
        else:
            _print_summary(result, out, vectors)
    missed = report_left_out(found_images.left_out)
    skipped = [Unreadable(Path(image.path), image.reason) for image in result.skipped]
    return max(missed, report_skipped(skipped))


def _summary(result: "Embedded", out: Path, cache: "VectorCache | None") -> dict[str, object]:
    facts = None
    if cache is not None:
        cache.flush()
        facts = {"file": str(cache.path), "bytes": cache.used, "limit": cache.limit}
    return {"out": str(out)} | result.to_json() | {"cache": facts}


def _print_summary(result: "Embedded", out: Path, cache: "VectorCache | None") -> None:
    encoder = result.encoder
    if result.already_there:
        print(f"{out} was finished before, from the same images by the same encoder.")
    else:
        reused = result.from_cache + result.resumed
        print(f"Encoded {result.images} images by {encoder['name']}; {reused} were known before.")
        print(f"Written: {out} ({result.classes} labels, vectors of {encoder['length']} numbers)")
    if cache is not None:
        cache.flush()
        print(
            f"Cache: {cache.path} ({cache.used / 1e6:.0f} MB of at most {cache.limit / 1e6:.0f} MB)"
        )
