"""What files keep of an encoder opens the same encoder again, or says what to do."""

import json
from dataclasses import replace

import numpy as np
import pytest
from helpers import make_store
from helpers_encoders import LENGTH, PREPROCESSING, photo_folder, picture, write_tiny

from samovar.data.preparation import prepare
from samovar.encoders.callable_encoder import CallableEncoder
from samovar.encoders.embedding import embed
from samovar.encoders.encoder_facts import EncoderFacts, encoder_of, open_encoder
from samovar.encoders.image_list import list_images
from samovar.encoders.onnx_encoder import OnnxEncoder
from samovar.errors import DataError, ModelError


@pytest.fixture
def file(tmp_path):
    return write_tiny(tmp_path / "tiny.onnx")


def test_the_facts_of_a_file_open_it_again_without_the_json_beside_it(file):
    encoder = OnnxEncoder(file)
    facts = EncoderFacts.of(encoder)
    file.with_suffix(".json").unlink()
    assert EncoderFacts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    again = open_encoder(facts)
    assert (facts.name, again.identity) == (str(file), encoder.identity)
    np.testing.assert_allclose(again.encode([picture(1)]), encoder.encode([picture(1)]))


def test_a_file_that_is_gone_or_altered_is_named_with_the_flag_that_helps(file):
    facts = EncoderFacts.of(OnnxEncoder(file))
    file.rename(file.with_name("moved.onnx"))
    with pytest.raises(ModelError, match=r"tiny\.onnx cannot be read.*--encoder FILE\.onnx"):
        open_encoder(facts)
    changed = replace(facts, name=str(file.with_name("moved.onnx")), identity="0" * 64)
    with pytest.raises(ModelError, match=r"moved\.onnx is not the encoder.*--encoder FILE\.onnx"):
        open_encoder(changed)


def test_a_function_must_be_registered_or_given():
    facts = EncoderFacts.of(CallableEncoder(lambda images: images.mean((1, 2)), "lost", size=4))
    with pytest.raises(ModelError, match="register_encoder"):
        open_encoder(facts)


def test_a_store_of_embedded_vectors_knows_their_encoder(file, tmp_path):
    encoder = OnnxEncoder(file)
    embed(list_images(photo_folder(tmp_path / "photos")), encoder, tmp_path / "v.npz")
    store = prepare("features", tmp_path / "v.npz")
    assert encoder_of(store) == EncoderFacts.of(encoder)
    assert encoder_of(make_store(tmp_path / "stores", [3, 3])) is None


def test_named_encoders_keep_their_own_preprocessing():
    stored = {"name": "patches", "identity": "1", "length": 3, "preprocessing": PREPROCESSING}
    assert EncoderFacts.of_vectors(stored) == EncoderFacts("patches", "1", 3)
    older = EncoderFacts.of_vectors(stored | {"name": "clip.onnx"})
    assert older.preprocessing.size == PREPROCESSING["size"], "files once had no path"


def test_a_store_with_nonsense_for_an_encoder_is_refused(tmp_path):
    for number, nonsense in enumerate(({"name": 3}, {"identity": None}, {"length": "5"})):
        stored = {"name": "tiny.onnx", "identity": "1", "length": LENGTH} | nonsense
        path = tmp_path / f"{number}.npz"
        features = np.eye(LENGTH, dtype=np.float32)
        labels = np.arange(LENGTH)
        np.savez(path, features=features, labels=labels, encoder=json.dumps(stored))
        with pytest.raises(DataError, match="encoder"):
            encoder_of(prepare("features", path, store_name=f"nonsense-{number}"))
