"""`samovar embed FOLDER --encoder NAME --out FILE.npz`."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from samovar.cli.embed_parts import EmbeddingJob, embed_in_parts
from samovar.core.storage import local_file
from samovar.errors import DataError, SettingsError
from samovar.settings.engine import EngineSettings


def embed(  # noqa: PLR0913 (a flag each)
    images: Annotated[Path, tyro.conf.Positional],
    *,
    out: Path,
    encoder: str = "efficientnet_lite0",
    preprocessing: str | None = None,
    shard: str | None = None,
    listing: Path | None = None,
    dtype: Literal["float32", "float16"] = "float32",
    cache: bool = True,
    json: bool = False,
    shards: int | None = None,
    plan: bool = False,
    shell: bool = False,
    engine: Annotated[EngineSettings, tyro.conf.arg(name="")],
) -> int:
    """Turn images into vectors by a pretrained network, for `samovar train features --root FILE`.

    The file has the arrays features, labels, paths and encoder, and split if the class folders are
    in train/, val/ and test/. If the command is interrupted, the
    same command continues where it stopped; if the file is finished already, nothing is done. An
    image that cannot be read is named and left out, and the exit code is 1.

    For more images than one machine can manage, --shards cuts the work into parts that a Ray
    cluster (--ray), SLURM (--slurm) or anything else (--plan --shell prints the commands) can run
    in any order, and puts them together: the file is the same to the byte.

    Args:
        images: A folder with one folder per class (perhaps inside train/, val/ and test/), a
            folder of images, a zip archive of either, or a text file with one path in each line
            (and perhaps a tab and a label).
        out: The file to write, such as photos.npz; or an address such as s3://bucket/photos.npz
            that fsspec can reach (pip install s3fs).
        encoder: efficientnet_lite0, efficientnet_lite2, or the path of an ONNX file.
        preprocessing: How images are prepared for an ONNX file: imagenet, clip, siglip, or a JSON
            file. Without it, a JSON file beside the ONNX file is read.
        shard: Encode only a part of the images: 1/4 is the first of four.
        listing: Encode only the images of this list, which an engine's parts are given so that they
            need not search the folder.
        dtype: Type of the stored numbers.
        cache: Keep the vectors, so that the same image is encoded once (at most 1 GB in all, in
            the folder of the variable SAMOVAR_CACHE).
        json: Print a summary as JSON.
        shards: Cut the work into so many parts, which are kept in OUT.shards until all are there;
            by default into parts of 10,000 images, if there is an engine.
        plan: Only print one command for each part, and a last one that puts them together.
        shell: The same, as in `samovar reproduce --plan --shell`.
        engine: Where the parts run.
    """
    show = plan or shell
    if engine.chosen or show or shards is not None:
        if shard is not None:
            raise SettingsError("--shard makes one part; leave it out to make all of them.")
        job = EmbeddingJob(images, out, encoder, preprocessing, dtype)
        return embed_in_parts(job, shards, engine, show=show, json=json)
    from samovar.encoders.embedding import embed as embed_images
    from samovar.encoders.image_list import images_to_embed, shard_of
    from samovar.encoders.image_sources import ImageList
    from samovar.encoders.listing import read_listing
    from samovar.encoders.registry import find_encoder
    from samovar.encoders.vector_cache import PATIENCE
    from samovar.reporting.cache import vector_cache
    from samovar.reporting.embedded import report_embedded
    from samovar.reporting.progress_bar import progress_bar

    if listing is None:
        found_images = images_to_embed(images)
    else:
        with local_file(listing) as file:
            found_images = ImageList(read_listing(file, images))
    listed = shard_of(found_images.images, shard)
    if not listed:
        raise DataError(f"The shard {shard} of {images} is empty: there are fewer images.")
    found = find_encoder(encoder, preprocessing, remember=cache)
    with vector_cache(wanted=cache, patience=PATIENCE) as vectors:
        with progress_bar(f"encoding {images}") as progress, local_file(out) as file:
            result = embed_images(
                listed,
                found,
                file,
                precision=dtype,
                cache=vectors,
                progress=progress,
                may_be_empty=shard is not None or listing is not None,
            )
        return report_embedded(result, out, found_images.left_out, vectors, as_json=json)
