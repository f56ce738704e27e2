"""Pieces on a real Ray cluster of three nodes, which all are this machine.

Commands that are defined inside a test are sent to the workers whole, since these cannot import the
tests.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers_encoders import photo_folder, write_tiny

from samovar.cli.embed_parts import EmbeddingJob, parts_of
from samovar.cli.main import main
from samovar.cluster.engine import run_pieces
from samovar.cluster.piece import Piece
from samovar.errors import RunError
from samovar.settings.engine import EngineSettings

ray = pytest.importorskip("ray", reason="Ray is not installed (samovar[ray])")

pytestmark = [
    pytest.mark.slow,
    # Ray leaves sockets and processes to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A cluster of three nodes with one core each."""
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    # Ray reports to its makers unless told not to, and lets its workers wait for all others.
    variables = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    before = dict(os.environ)
    # It also takes SIGTERM for itself, and does not give it back.
    handler = signal.getsignal(signal.SIGTERM)
    os.environ.update(variables)
    cluster = Cluster(initialize_head=True, head_node_args=node)
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield cluster
    ray.shutdown()
    cluster.shutdown()
    signal.signal(signal.SIGTERM, handler)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def engine(cluster, tmp_path) -> EngineSettings:
    return EngineSettings(ray=cluster.address, logs=tmp_path / "logs")


@pytest.fixture
def job(tmp_path) -> EmbeddingJob:
    photos = photo_folder(tmp_path / "photos", classes=4, images=6)
    encoder = write_tiny(tmp_path / "tiny.onnx")
    return EmbeddingJob(photos, tmp_path / "v.npz", str(encoder), None, "float32")


def embed(job: EmbeddingJob, out: Path, *flags: str) -> bytes:
    """Embed the photos of a job into another file, and return what it holds."""
    assert main([*job.arguments(out), *flags]) == 0
    return out.read_bytes()


def test_the_file_is_the_same_from_one_process_one_worker_and_three_nodes(job, cluster, tmp_path):
    flags = ["--shards", "5", "--ray", cluster.address, "--logs", str(tmp_path / "logs")]
    alone = embed(job, tmp_path / "alone.npz", "--no-cache")
    three = embed(job, tmp_path / "three.npz", *flags)
    # A piece that takes all cores of its node has no other beside it on any.
    assert embed(job, tmp_path / "one.npz", "--shards", "1", *flags[2:]) == alone
    assert three == alone
    assert not list(tmp_path.glob("*.shards"))


def test_results_go_to_an_address(job, cluster, tmp_path):
    there = f"file://{tmp_path}/there/v.npz"
    flags = ["--shards", "3", "--ray", cluster.address, "--logs", str(tmp_path / "logs")]
    assert main([*job.arguments(Path(there)), *flags]) == 0
    alone = embed(job, tmp_path / "alone.npz", "--no-cache")
    assert (tmp_path / "there" / "v.npz").read_bytes() == alone
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["v.npz"]


def test_a_worker_killed_in_the_middle_of_a_file_leaves_no_half_of_it(job, engine, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()

    def killed_once(arguments: list[str]) -> int:
        """Run the command; the first time, kill the process before its file gets its name."""
        import samovar.core.files as files
        from samovar.cli.main import main as real

        mark = marks / arguments[arguments.index("--shard") + 1].replace("/", "-")
        if not mark.exists():
            mark.touch()
            files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
        return real(arguments)

    pieces = parts_of(job, 3)
    run_pieces(pieces, killed_once, engine)
    assert len(list(marks.iterdir())) == 3
    folder = tmp_path / "v.npz.shards"
    files = sorted(path.name for path in folder.iterdir() if path.suffix == ".npz")
    assert files == [f"0000{number}-of-00003.npz" for number in (1, 2, 3)]
    leftovers = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".npz"]
    assert [path.suffix for path in leftovers if path.suffix != ".lock"] == []
    # The rest finds the parts finished, and puts them together.
    joined = embed(job, job.out, "--shards", "3", "--logs", str(engine.logs))
    assert joined == embed(job, tmp_path / "a.npz", "--no-cache")


def test_a_node_that_is_lost_takes_nothing_with_it(cluster, engine, tmp_path):
    doomed = cluster.add_node(num_cpus=1, resources={"doomed": 1}, object_store_memory=80 * 2**20)
    # Opening a pipe waits until its other end is opened.
    begun, gate, never = tmp_path / "begun", tmp_path / "gate", tmp_path / "never"
    for pipe in (begun, gate, never):
        os.mkfifo(pipe)

    def write(arguments: list[str]) -> int:
        """Write a file when the node is gone; on that node, say so and wait for ever."""
        import ray

        here = ray.get_runtime_context().get_node_id()
        nodes = {node["NodeID"]: node["Resources"] for node in ray.nodes()}
        if "doomed" in nodes[here]:
            begun.open("w").close()
            never.open().close()
        gate.open().close()
        Path(arguments[0]).write_text(here)
        return 0

    def remove_node() -> None:
        begun.open().close()
        cluster.remove_node(doomed, allow_graceful=False)
        os.open(gate, os.O_RDWR)  # and stays open

    remover = threading.Thread(target=remove_node, daemon=True)
    remover.start()
    pieces = [Piece(str(number), (str(tmp_path / f"{number}.txt"),)) for number in range(8)]
    outcomes = run_pieces(pieces, write, engine)
    remover.join(timeout=60)
    assert not remover.is_alive()
    assert len(outcomes) == 8
    assert all((tmp_path / f"{number}.txt").exists() for number in range(8))


def test_a_piece_that_fails_is_named_with_its_log_and_the_others_finish(job, engine, tmp_path):
    good = parts_of(job, 2)
    bad = Piece("no folder", ("embed", str(tmp_path / "none"), "--out", str(tmp_path / "x.npz")))
    with pytest.raises(RunError) as error:
        run_pieces([good[0], bad, good[1]], main, engine)
    assert "1 of 3 pieces failed" in str(error.value)
    log = engine.logs / "no-folder.log"
    assert str(log) in str(error.value)
    assert str(tmp_path / "none") in log.read_text()
    assert len(list((tmp_path / "v.npz.shards").glob("*.npz"))) == 2


def test_a_mistake_of_ours_is_an_outcome_too(engine):
    def broken(_: list[str]) -> int:
        raise ZeroDivisionError("a mistake of ours")

    with pytest.raises(RunError, match="1 of 1 pieces failed"):
        run_pieces([Piece("broken", ())], broken, engine)
    assert "a mistake of ours" in (engine.logs / "broken.log").read_text()


def test_pieces_have_their_share_of_cores_and_our_data_folder(engine, data_folder, tmp_path):
    def tell(arguments: list[str]) -> int:
        names = ("OMP_NUM_THREADS", "SAMOVAR_DATA")
        Path(arguments[0]).write_text("\n".join(os.environ[name] for name in names))
        return 0

    run_pieces([Piece("tell", (str(tmp_path / "told"),))], tell, engine)
    assert (tmp_path / "told").read_text().splitlines() == ["1", str(data_folder)]


def test_a_cluster_that_is_not_there_is_a_sentence(tmp_path):
    """In a process of its own, since this one has a connection already."""
    command = [sys.executable, "-m", "samovar", "embed", str(tmp_path), "--out", "v.npz"]
    photo_folder(tmp_path / "a", classes=1, images=1)
    done = subprocess.run(
        [*command, "--ray", "127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stderr
    assert "no Ray cluster at '127.0.0.1:1'" in done.stderr
    assert "Traceback" not in done.stderr
