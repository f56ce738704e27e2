"""Weights are compared with their config before anything is allocated, and with their hash."""

import json
import os

import pytest
import torch
from helpers import features_model, image_model
from safetensors.torch import load_file, save_file

from samovar.artifacts.locate import SHIPPED, shipped_models
from samovar.artifacts.saved_model import load_model
from samovar.artifacts.weights import LARGEST_NETWORK, TensorEntry, check_network, read_header
from samovar.errors import ModelError
from samovar.models.few_shot_model import FewShotModel
from samovar.settings.model import ModelSettings


def change_config(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    for name, value in changes.items():
        if value is ...:
            del config[name]
        elif isinstance(value, dict):
            config[name] |= value
        else:
            config[name] = value
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("width", [3000, 30_000_000, 2**62, pytest.param(10**400, id="huge")])
def test_a_config_of_any_width_is_refused_before_its_network_is_built(tmp_path, width):
    """A network of width 3000 takes 7 GB, that of width 30,000,000 more than there is."""
    folder = image_model().save_pretrained(tmp_path / "m")
    change_config(folder, model={"width": width})
    words = r"does not fit its config: backbone|cannot be built|too large|must be at most"
    with pytest.raises(ModelError, match=words):
        load_model(folder)


def test_a_network_of_more_than_a_gigabyte_is_refused_even_if_its_weights_say_so(tmp_path):
    settings = ModelSettings(backbone="resnet12", width=1000)
    with torch.device("meta"):
        expected = FewShotModel(settings, initialized=False).state_dict()
    header = {name: TensorEntry("F32", tuple(value.shape)) for name, value in expected.items()}
    with pytest.raises(ModelError, match=f"at most {LARGEST_NETWORK:,} are possible"):
        check_network(settings, header, tmp_path / "model.safetensors")


def test_a_flipped_bit_is_noticed_by_the_hash(tmp_path):
    folder = image_model().save_pretrained(tmp_path / "m")
    path = folder / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        ModelError, match=r"model\.safetensors is not the file .* checksum is wrong"
    ):
        load_model(folder)
    change_config(folder, weights_sha256=...)
    assert load_model(folder).model is not None, "models of earlier versions have no hash"


@pytest.mark.parametrize("hash_is", [3, [], "short"])
def test_a_hash_that_is_none_is_refused(tmp_path, hash_is):
    folder = features_model(3).save_pretrained(tmp_path / "m")
    change_config(folder, weights_sha256=hash_is)
    with pytest.raises(ModelError, match=r"weights_sha256 must be text|checksum is wrong"):
        load_model(folder)


def test_weights_that_are_not_finite_are_refused(tmp_path):
    folder = image_model().save_pretrained(tmp_path / "m")
    change_config(folder, weights_sha256=...)
    tensors = load_file(folder / "model.safetensors")
    name = sorted(tensors)[0]
    tensors[name] = torch.full_like(tensors[name], float("nan"))
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(ModelError, match=f"its {name} has values that are not finite"):
        load_model(folder)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\xff" * 8 + b"{}", "claims 18,446,744,073,709,551,615 bytes"),
        (b"\x02" + bytes(7) + b"[]", "must be a table"),
        (b"\x0c" + bytes(7) + b'{"a": "big"}', "a must be a table"),
        (b"\x09" + bytes(7) + b'{"a": {}}', "a has no 'dtype'"),
    ],
)
def test_files_that_are_not_safetensors_are_named(tmp_path, content, words):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.safetensors is damaged") as error:
        read_header(path)
    assert words.split()[-1] in str(error.value)


def test_a_pipe_is_not_waited_for(tmp_path):
    folder = features_model(3).save_pretrained(tmp_path / "m")
    for name in ("model.safetensors", "config.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(ModelError, match="is not a file"):
            load_model(folder)


@pytest.mark.parametrize("name", shipped_models())
def test_the_header_of_a_shipped_model_says_what_its_tensors_are(name):
    path = SHIPPED / name / "model.safetensors"
    tensors = load_file(path)
    header = read_header(path)
    assert {key: entry.shape for key, entry in header.items()} == {
        key: tuple(tensor.shape) for key, tensor in tensors.items()
    }
