"""`samovar embed` in parts: by an engine, or by whatever runs the commands that it prints."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from samovar.cluster.piece import Piece
from samovar.core.files import output_folder
from samovar.core.storage import absolute, address_of, local_file, local_folder, remove, shown
from samovar.errors import SettingsError
from samovar.settings.engine import EngineSettings

if TYPE_CHECKING:
    from samovar.encoders.embedding import Embedded
    from samovar.encoders.shards import Shards

DEFAULT_SIZE = 10_000
"""Images in a part if their number is not given: half a minute of one core or more."""


@dataclass(frozen=True)
class EmbeddingJob:
    """Which images are to be encoded, by what, and into which file."""

    images: Path
    out: Path
    encoder: str
    preprocessing: str | None
    dtype: Literal["float32", "float16"]

    def arguments(self, out: Path) -> tuple[str, ...]:
        """Return the arguments of `samovar` that encode the images into a file."""
        arguments = ["embed", str(self.images.absolute()), "--out", absolute(out)]
        arguments += ["--encoder", self._encoder, "--dtype", self.dtype]
        if self.preprocessing is not None:
            arguments += ["--preprocessing", _as_seen_elsewhere(self.preprocessing)]
        return tuple(arguments)

    @property
    def _encoder(self) -> str:
        return _as_seen_elsewhere(self.encoder)


def _as_seen_elsewhere(name_or_path: str) -> str:
    """Return a path that means the same in another folder; a name stays as it is."""
    path = Path(name_or_path)
    return str(path.absolute()) if path.exists() else name_or_path


def embed_in_parts(
    job: EmbeddingJob, count: int | None, engine: EngineSettings, *, show: bool, json: bool
) -> int:
    """Encode images part by part and put the parts together; or only `show` the commands."""
    from samovar.encoders.embedding import check_output
    from samovar.encoders.image_list import images_to_embed
    from samovar.encoders.registry import find_encoder
    from samovar.encoders.shards import Shards
    from samovar.reporting.embedded import report_embedded

    if count is not None and count < 1:
        raise SettingsError(f"--shards must be at least 1, but is {count}.")
    check_output(job.out)
    found_images = images_to_embed(job.images)
    images = found_images.images
    count = min(count or -(-len(images) // DEFAULT_SIZE), len(images))
    if show:
        for piece in parts_of(job, count):
            print(piece.command)
        print(Piece("whole", (*job.arguments(job.out), "--shards", str(count))).command)
        return 0
    encoder = find_encoder(job.encoder, job.preprocessing)
    shards = Shards(images, encoder, job.dtype, count)
    with _alone(job.out):
        result = _whole(job, shards, engine)
    return report_embedded(result, job.out, found_images.left_out, None, as_json=json)


def parts_of(job: EmbeddingJob, count: int, *, listed: bool = False) -> list[Piece]:
    """Return the pieces that encode the images in so many parts.

    Each part finds its images by searching the folder, or in a listing of its own.
    """
    from samovar.encoders.shards import listing_name, shard_name, shards_folder

    folder = shards_folder(job.out)
    pieces = []
    for number in range(1, count + 1):
        images = ("--shard", f"{number}/{count}")
        if listed:
            images = ("--listing", absolute(folder / listing_name(number, count)))
        # The cache of vectors is for one machine.
        arguments = (*job.arguments(folder / shard_name(number, count)), *images, "--no-cache")
        name = f"{job.out.name}-{number:05}-of-{count:05}"
        # With exit code 1 some images could not be read; those are listed in the result.
        pieces.append(Piece(name, arguments, accepted=(0, 1)))
    return pieces


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Let the same command wait until this one has finished; at an address nobody waits."""
    if address_of(out) is not None:
        yield
        return
    from filelock import FileLock

    with FileLock(output_folder(out.parent) / f".{out.name}.shards.lock"):
        yield


def _whole(job: EmbeddingJob, shards: "Shards", engine: EngineSettings) -> "Embedded":
    """Return the finished output; make the parts that are missing, and join them."""
    from samovar.cli.main import main
    from samovar.cluster.engine import run_pieces
    from samovar.encoders.shards import shards_folder
    from samovar.reporting.progress_bar import progress_bar

    with local_file(job.out) as out:
        finished = shards.finished(out)
        if finished is None:
            # An archive has a list of what is in it, and a list is one; a folder is searched once.
            listed = job.images.is_dir()
            if listed:
                with local_folder(shards_folder(job.out)) as folder:
                    shards.write_listings(folder)
            pieces = parts_of(job, shards.count, listed=listed)
            with progress_bar(f"encoding {job.images}") as progress:
                run_pieces(pieces, main, engine, progress)
            with (
                progress_bar(f"writing {shown(job.out)}") as progress,
                local_folder(shards_folder(job.out)) as folder,
            ):
                finished = shards.join(folder, out, progress)
    # Only now, since the file is at its address when the block has ended.
    remove(shards_folder(job.out))
    return finished
