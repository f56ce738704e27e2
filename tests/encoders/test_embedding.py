"""Embedding a collection: complete, resumable, idempotent, and the same in parts."""

import os

import numpy as np
import pytest
from helpers_encoders import photo_folder, picture

from samovar.encoders import embedding
from samovar.encoders.embedding import embed
from samovar.encoders.image_list import list_images, shard_of
from samovar.encoders.vector_cache import VectorCache
from samovar.errors import DataError, OutputError, SettingsError


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(embedding, "CHUNK", 5)


@pytest.fixture
def images(tmp_path):
    return list_images(photo_folder(tmp_path / "photos"))


def arrays_of(path):
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays}


def test_the_file_has_the_vectors_of_all_images(images, tiny, tmp_path):
    result = embed(images, tiny, tmp_path / "out" / "v.npz")
    arrays = arrays_of(tmp_path / "out" / "v.npz")
    expected = tiny.encode([image.file for image in images])
    np.testing.assert_allclose(arrays["features"], expected, atol=1e-6)
    assert arrays["labels"].tolist() == [image.label for image in images]
    assert arrays["paths"].tolist() == [image.name for image in images]
    assert tiny.identity in str(arrays["encoder"])
    assert (result.images, result.classes) == (12, 3)
    assert not (tmp_path / "out" / "v.npz.parts").exists()


def test_the_same_call_again_does_nothing(images, tiny, tmp_path):
    out = tmp_path / "v.npz"
    embed(images, tiny, out)
    before = out.stat().st_mtime_ns
    assert embed(images, tiny, out).already_there
    assert out.stat().st_mtime_ns == before


def test_changed_images_are_embedded_again(images, tiny, tmp_path):
    out = tmp_path / "v.npz"
    embed(images, tiny, out)
    picture(77, (60, 60)).save(tmp_path / "photos" / "class 0" / "0.png")
    changed = list_images(tmp_path / "photos")
    assert not embed(changed, tiny, out).already_there
    np.testing.assert_allclose(
        arrays_of(out)["features"][0], tiny.encode([picture(77, (60, 60))])[0], atol=1e-6
    )


def test_an_interrupted_call_is_continued(images, tiny, tmp_path):
    whole = embed(images, tiny, tmp_path / "whole.npz")
    out = tmp_path / "v.npz"

    def interrupt(_: str, share: float) -> None:
        if share > 0.9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(images, tiny, out, progress=interrupt)
    assert not out.exists()
    result = embed(images, tiny, out)
    assert result.resumed == 10
    assert result.images == whole.images
    for name, array in arrays_of(tmp_path / "whole.npz").items():
        np.testing.assert_array_equal(arrays_of(out)[name], array)


def test_parts_of_other_inputs_and_damaged_parts_are_not_used(images, tiny, tmp_path):
    out = tmp_path / "v.npz"
    parts = tmp_path / "v.npz.parts"
    parts.mkdir()
    (parts / "inputs.txt").write_text("other inputs")
    (parts / "000000000.npz").write_bytes(b"junk")
    assert embed(images, tiny, out).resumed == 0
    np.testing.assert_allclose(
        arrays_of(out)["features"], tiny.encode([image.file for image in images]), atol=1e-6
    )


def test_a_folder_of_parts_that_leads_elsewhere_or_has_a_pipe_is_made_anew(images, tiny, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    out = tmp_path / "out" / "v.npz"
    out.parent.mkdir()
    parts = out.with_name("v.npz.parts")
    parts.symlink_to(elsewhere)
    embed(images, tiny, out)
    assert not list(elsewhere.iterdir())
    assert not parts.is_symlink()
    out.unlink()
    parts.mkdir()
    os.mkfifo(parts / "inputs.txt")
    assert embed(images, tiny, out).images == len(images)
    assert not parts.exists()


def test_unreadable_images_are_left_out_and_named_again_next_time(tiny, tmp_path):
    folder = photo_folder(tmp_path / "photos")
    (folder / "class 1" / "2.png").write_bytes(b"broken")
    images = list_images(folder)
    for attempt in range(2):
        result = embed(images, tiny, tmp_path / "v.npz")
        assert [image.path for image in result.skipped] == ["class 1/2.png"]
        assert result.already_there == (attempt == 1)
    assert "class 1/2.png" not in arrays_of(tmp_path / "v.npz")["paths"]


def test_nothing_is_written_if_no_image_can_be_read(tmp_path, tiny):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_bytes(b"broken")
    with pytest.raises(DataError, match=r"None of the images can be encoded.*a\.png"):
        embed(list_images(tmp_path / "photos"), tiny, tmp_path / "v.npz")
    assert not (tmp_path / "v.npz").exists()


def test_shards_together_are_the_whole(images, tiny, tmp_path):
    embed(images, tiny, tmp_path / "whole.npz")
    whole = arrays_of(tmp_path / "whole.npz")
    parts = []
    for number in (1, 2, 3):
        out = tmp_path / f"{number}.npz"
        embed(shard_of(images, f"{number}/3"), tiny, out)
        parts.append(arrays_of(out))
    for name in ("labels", "paths"):
        np.testing.assert_array_equal(np.concatenate([part[name] for part in parts]), whole[name])
    features = np.concatenate([part["features"] for part in parts])
    np.testing.assert_allclose(features, whole["features"], atol=1e-5)


def test_cached_vectors_have_the_same_bits(images, tiny, tmp_path):
    with VectorCache() as cache:
        assert embed(images, tiny, tmp_path / "1.npz", cache=cache).from_cache == 0
    with VectorCache() as cache:
        assert embed(images, tiny, tmp_path / "2.npz", cache=cache).from_cache == 12
    np.testing.assert_array_equal(
        arrays_of(tmp_path / "1.npz")["features"], arrays_of(tmp_path / "2.npz")["features"]
    )


def test_half_precision_is_another_file(images, tiny, tmp_path):
    out = tmp_path / "v.npz"
    embed(images, tiny, out)
    result = embed(images, tiny, out, precision="float16")
    assert not result.already_there
    assert arrays_of(out)["features"].dtype == np.float16


def test_an_output_that_cannot_be_written_is_refused_first(images, tiny, tmp_path):
    with pytest.raises(SettingsError, match=r"\.npz"):
        embed(images, tiny, tmp_path / "v.npy")
    (tmp_path / "v.npz").mkdir()
    with pytest.raises(OutputError, match="folder of that name"):
        embed(images, tiny, tmp_path / "v.npz")


def spoil(path, readable: bool) -> None:
    """Exchange a picture for one of the same size and time that can be read, or cannot."""
    state = path.stat()
    content = path.read_bytes()
    start = b"\x89PNG" if readable else b"none"
    path.write_bytes(start + content[4:])
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_an_unreadable_image_is_tried_again_though_size_and_time_are_the_same(tiny, tmp_path):
    """As when a package for its format was installed, or the right to read it was given."""
    folder = photo_folder(tmp_path / "photos")
    spoil(folder / "class 1" / "2.png", readable=False)
    images = list_images(folder)
    out = tmp_path / "v.npz"
    assert len(embed(images, tiny, out).skipped) == 1
    assert embed(images, tiny, out).already_there, "it is still unreadable"
    spoil(folder / "class 1" / "2.png", readable=True)
    repaired = embed(list_images(folder), tiny, out)
    assert not repaired.already_there
    assert (repaired.images, repaired.skipped) == (12, ())
    assert len(arrays_of(out)["features"]) == 12


def test_an_unreadable_image_is_tried_again_when_work_goes_on(tiny, tmp_path):
    folder = photo_folder(tmp_path / "photos")
    spoil(folder / "class 0" / "1.png", readable=False)
    images = list_images(folder)
    out = tmp_path / "v.npz"

    def interrupt(_: str, share: float) -> None:
        if share > 0.9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(images, tiny, out, progress=interrupt)
    spoil(folder / "class 0" / "1.png", readable=True)
    result = embed(images, tiny, out)
    assert result.skipped == ()
    assert result.resumed == 5, "the part with the repaired image is encoded again"


def test_an_image_of_a_list_that_came_later_is_encoded(tiny, tmp_path):
    folder = photo_folder(tmp_path / "photos", classes=1)
    (tmp_path / "list.txt").write_text("photos/class 0/0.png\nphotos/late.png\n")
    out = tmp_path / "v.npz"
    assert len(embed(list_images(tmp_path / "list.txt"), tiny, out).skipped) == 1
    picture(3).save(folder / "late.png")
    assert embed(list_images(tmp_path / "list.txt"), tiny, out).images == 2


def test_what_a_killed_process_left_beside_a_finished_file_is_removed(images, tiny, tmp_path):
    """It was killed while it removed the chunks, or had to leave a temporary file."""
    out = tmp_path / "v.npz"
    embed(images, tiny, out)
    content = out.read_bytes()
    (tmp_path / "v.npz.parts").mkdir()
    (tmp_path / "v.npz.parts" / "000000000.npz").write_bytes(b"a chunk")
    (tmp_path / ".v.npz.0123abcd").write_bytes(b"half")
    assert embed(images, tiny, out).already_there
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".v.npz.lock", "photos", "v.npz"]
    out.unlink()
    embed(images, tiny, out)
    assert out.read_bytes() == content, "the same vectors are the same file"
