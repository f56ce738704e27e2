"""Whatever a model does to ONNX Runtime is an error with a sentence, and this process lives on."""

import signal

import numpy as np
import pytest
from helpers_encoders import LENGTH, PREPROCESSING, SIZE, tiny_model, write_tiny
from onnx import helper, numpy_helper

from samovar.encoders import onnx_probe
from samovar.encoders.onnx_encoder import OnnxEncoder
from samovar.encoders.onnx_probe import Limits, probe, problem_of
from samovar.errors import ModelError

RESULT = [("result", ("n", LENGTH))]
LIMITS = Limits(4 * 2**30, 60)


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs, [output], **attributes)


def with_functions(bodies):
    """A model whose last node calls the last function; each is a list of names that it calls."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    functions = []
    for number, names in enumerate(bodies):
        nodes = []
        values = [f"v{position}" for position in range(len(names) + 1)]
        for position, name in enumerate(names):
            domain = "f" if name.startswith("F") else ""
            nodes.append(node(name, [values[position]], values[position + 1], domain=domain))
        functions.append(
            helper.make_function("f", f"F{number}", [values[0]], [values[-1]], nodes, opsets)
        )
    last = node(f"F{len(functions) - 1}", ["vectors"], "result", domain="f")
    model = tiny_model(nodes=[last], outputs=RESULT, domains=["f"])
    model.functions.extend(functions)
    return model


def crashing():
    """Functions that call each other too deep for the stack of ONNX Runtime."""
    return with_functions([["Relu"], *([f"F{number}"] for number in range(10_000))])


def endless():
    """Functions that call the one before twice: two to the power of forty nodes."""
    return with_functions([["Relu"], *([f"F{number}"] * 2 for number in range(40))])


def gigantic():
    """A constant of sixteen gigabytes, which takes a few bytes in the file."""
    shape = numpy_helper.from_array(np.array([1, 2**32]), "shape")
    nodes = [node("Constant", [], "shape", value=shape)]
    nodes += [node("ConstantOfShape", ["shape"], "zeros")]
    nodes += [node("ReduceSum", ["zeros"], "sum", keepdims=1)]
    nodes += [node("Add", ["vectors", "sum"], "result")]
    return tiny_model(nodes=nodes, outputs=RESULT)


HOSTILE = {
    "makes ONNX Runtime crash": crashing,
    "was not done with a test image after 2 seconds": endless,
    "needs more than 4 GB of memory": gigantic,
}


@pytest.mark.parametrize("message", HOSTILE)
def test_hostile_files_are_refused_by_name(message, tmp_path, cache_folder, monkeypatch):
    if HOSTILE[message] is endless:
        monkeypatch.setattr(onnx_probe, "SECONDS", 2)
    path = write_tiny(tmp_path / "evil.onnx", HOSTILE[message]())
    with pytest.raises(ModelError, match=rf"evil\.onnx {message}"):
        OnnxEncoder(path)
    assert list(cache_folder.rglob("*.txt")) == [], "tried again next time"


def test_a_sound_file_is_tried_once(tmp_path, cache_folder, monkeypatch):
    path = write_tiny(tmp_path / "tiny.onnx")
    OnnxEncoder(path)
    assert len(list(cache_folder.rglob("*.txt"))) == 1
    monkeypatch.setattr("sys.executable", "/no/such/python")
    OnnxEncoder(path)
    model = tiny_model()
    model.doc_string = "another file"
    with pytest.raises(ModelError, match="no process can be started"):
        OnnxEncoder(write_tiny(path, model))


def test_nothing_is_remembered_if_so_asked_and_what_was_is_not_used(tmp_path, cache_folder):
    content = tiny_model().SerializeToString()
    probe(content, tmp_path / "tiny.onnx", SIZE, remember=False)
    assert list(cache_folder.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SAMOVAR_CACHE", str(tmp_path / "file"))
    assert OnnxEncoder(write_tiny(tmp_path / "tiny.onnx")).input_size == PREPROCESSING["size"]


def test_every_end_of_a_trial_has_its_sentence():
    assert problem_of(0, b'{"error": null}', LIMITS) is None
    failed = problem_of(0, b'{"error": "no such operator\\nand more"}', LIMITS)
    assert failed == "cannot be run by ONNX Runtime: no such operator"
    assert "4 GB of memory" in problem_of(0, b'{"error": "std::bad_alloc"}', LIMITS)
    assert "crash (SIGSEGV)" in problem_of(-signal.SIGSEGV, b"", LIMITS)
    assert "crash (exit code 3221225477)" in problem_of(0xC0000005, b"", LIMITS)
    assert "after 60 seconds" in problem_of(-signal.SIGXCPU, b"", LIMITS)


def test_a_large_model_gets_more_memory_and_time():
    small = Limits.of(b"")
    large = Limits.of(bytes(2**20))
    assert large.memory - small.memory == 6 * 2**20
    assert small == Limits(onnx_probe.MEMORY, onnx_probe.SECONDS)
