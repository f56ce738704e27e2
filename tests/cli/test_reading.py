"""Images are read with the cache, and called photographs where they may be."""

from helpers import image_model
from helpers_photos import draw_photos, small_regression

from samovar.artifacts.locate import locate_model
from samovar.artifacts.saved_model import load_model
from samovar.cli.reading import noun_of, read_files
from samovar.data.images.image_file import ImageFile


def test_files_are_read_and_cached_if_wanted(tmp_path, cache_folder):
    folder = draw_photos(tmp_path, {"disc": 2}, side=40) / "disc"
    files = [ImageFile.at(path) for path in sorted(folder.iterdir())]
    first = read_files(files, small_regression(), "mine", cache=False)
    assert list(cache_folder.iterdir()) == []
    again = read_files(files, small_regression(), "mine", cache=True)
    assert list(cache_folder.iterdir()) != []
    assert [vector.tolist() for vector in first.inputs] == [
        vector.tolist() for vector in again.inputs
    ]


def test_models_of_grey_characters_take_images_and_others_photographs():
    assert noun_of(load_model(locate_model("glyphs"))) == "images"
    assert noun_of(image_model()) == "photographs"
    assert noun_of(small_regression()) == "photographs"
