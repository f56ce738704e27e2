"""In a notebook a fitted classifier shows its classes with counts and examples."""

import pickle

import pytest
import sklearn
from helpers_images import make_folder
from helpers_photos import clouds, small_regression
from sklearn.base import clone

import samovar
from samovar.classifier.notebook_view import MOST_CLASSES


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "photos", {"one": 100, "<b>two": 101}, 3)


def html(classifier: samovar.FewShotClassifier) -> str:
    text = classifier._repr_html_()
    assert classifier._repr_mimebundle_()["text/html"].endswith(text[-200:])
    return text


def test_classes_have_a_thumbnail_and_a_count(folder):
    text = html(samovar.FewShotClassifier("glyphs").fit(folder))
    assert "sk-top-container" in text, "scikit-learn's diagram"
    assert text.count("data:image/jpeg;base64,") == 2
    assert text.count("3 images") == 2
    assert "&lt;b&gt;two" in text
    assert "<b>two" not in text.replace("<b>&lt;b&gt;two", "")
    assert "2 classes, 6 images; leave-one-out:" in text


def test_images_that_were_no_files_or_have_gone_have_counts_only(folder, tmp_path):
    vectors, labels = clouds()
    assert "data:image/jpeg" not in html(
        samovar.FewShotClassifier(small_regression()).fit(vectors, labels)
    )
    classifier = samovar.FewShotClassifier("glyphs").fit(folder)
    for path in folder.glob("one/*.png"):
        path.unlink()
    assert html(classifier).count("data:image/jpeg") == 1
    classifier.save(tmp_path / "t.safetensors")
    assert "data:image/jpeg" not in html(samovar.FewShotClassifier.load(tmp_path / "t.safetensors"))


def test_added_classes_appear_and_many_are_counted(folder, tmp_path):
    more = make_folder(tmp_path / "more", {"three": 102}, 1)
    classifier = samovar.FewShotClassifier("glyphs").fit(folder)
    classifier.partial_fit([more / "three" / "0.png"], ["three"])
    text = html(classifier)
    assert text.count("data:image/jpeg") == 3
    assert "1 image<" in text
    vectors, labels = clouds(classes=MOST_CLASSES + 3, each=1)
    many = samovar.FewShotClassifier(small_regression()).fit(vectors, labels)
    assert f"of which the first {MOST_CLASSES} classes are shown" in html(many)


def test_a_new_classifier_and_one_without_diagrams_are_as_in_scikit_learn(folder):
    assert (
        "images" not in samovar.FewShotClassifier("glyphs")._repr_html_().rpartition("</style>")[2]
    )
    classifier = samovar.FewShotClassifier("glyphs").fit(folder)
    with sklearn.config_context(display="text"):
        assert not hasattr(classifier, "_repr_html_")
        assert "text/html" not in classifier._repr_mimebundle_()
    assert clone(classifier).model == "glyphs"
    assert pickle.loads(pickle.dumps(classifier.examples_)) == classifier.examples_
