"""A source from outside the package is registered, prepared and used like any other."""

import numpy as np
import pytest

import samovar.data
from samovar.data.dataset import Dataset
from samovar.data.episodes import EpisodeSampler
from samovar.data.images.conversion import Conversion
from samovar.data.images.user_images import conversion_of
from samovar.data.preparation import list_stores, prepare
from samovar.data.sources.base import Source
from samovar.data.sources.registry import REGISTRY, register_source, source_named
from samovar.data.store import ClassEntry, Contents, open_store
from samovar.errors import DataError
from samovar.settings.tasks import EpisodeSettings

NAMES = [f"grey {level}" for level in range(6)]


def open_shades(_root, _settings):
    """Six classes of ten images, each class a shade of grey."""

    def read(position):
        return np.full((10, 8, 8, 1), 40 * position)

    split = {"train": NAMES[:4], "test": NAMES[4:]}
    classes = [ClassEntry(name, 10) for name in NAMES]
    return Contents(classes, (8, 8, 1), read, {"own": split})


SHADES = Source(
    "shades", "shades of grey", "CC0", "none", open_shades, inverted=True, resampling="lanczos"
)


@pytest.fixture(autouse=True)
def registry():
    """What a test registers is forgotten afterwards."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def test_a_source_from_outside_is_prepared_and_gives_episodes():
    register_source(SHADES)
    store = prepare("shades")
    assert store.facts["licence"] == "CC0"
    sampler = EpisodeSampler(Dataset(store), EpisodeSettings(way=3, shot=2, queries=1), seed=0)
    episodes = sampler.draw(first=0, count=4)
    images = Dataset(store).gather(episodes.support)
    np.testing.assert_array_equal(images[..., 0, 0, 0], 40 * np.repeat(episodes.classes, 2, axis=1))
    assert set(list_stores()) == {"shades"}


def test_how_new_images_are_converted_is_known_where_the_source_is_not():
    """Another process, such as `samovar train`, has the store but not the source."""
    register_source(SHADES)
    prepare("shades")
    del REGISTRY["shades"]
    assert conversion_of(open_store("shades")) == Conversion(8, "grey", "lanczos", inverted=True)


def test_a_taken_name_is_refused_unless_it_is_to_be_replaced():
    with pytest.raises(DataError, match="already a data source called 'glyphs'"):
        register_source(Source("glyphs", "mine", "CC0", "none", open_shades))
    register_source(SHADES)
    register_source(SHADES, replace=True)
    assert source_named("shades") is SHADES


def test_an_unknown_name_is_answered_with_those_there_are():
    with pytest.raises(
        DataError, match=r"no data source called 'shades'\. Available sources: glyphs"
    ):
        source_named("shades")
    with pytest.raises(DataError, match=r"Did you mean glyphs\?"):
        source_named("glyph")


def test_the_door_has_every_name_that_it_promises():
    for name in samovar.data.__all__:
        assert getattr(samovar.data, name).__name__ == name
    shown = [name for name in dir(samovar.data) if not name.startswith("__")]
    assert shown == sorted(samovar.data.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        samovar.data.nonsense  # noqa: B018 - the access is the test
