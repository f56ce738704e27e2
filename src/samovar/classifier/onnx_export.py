"""A fitted task as one ONNX model: pixels in, probabilities and the rejection score out.

The graph is the encoder's, with the preprocessing of its pixels before it and the regression after
it. What the answers average over, quasi-random classifiers with their temperatures, are constants
of the graph, so that it answers as `FewShotClassifier.predict_proba` does, to rounding. Resizing
and cropping stay outside: no two libraries resize alike, and the model was measured with Pillow's.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.compose import add_prefix

from samovar.classifier.answer import AnswerParameters
from samovar.classifier.fitted_regression import FittedRegression
from samovar.core.version import VERSION
from samovar.encoders.onnx_graph import NodeWriter
from samovar.encoders.preprocessing import Preprocessing
from samovar.errors import ModelError
from samovar.models.closed_form import Regression
from samovar.prediction.predictive import sample_blocks
from samovar.prediction.regression import SMALLEST_VARIANCE, TemperedLogitSampler
from samovar.prediction.sampling_noise import PredictiveNoise

PREFIX = "encoder/"
OLDEST_OPSET = 13
"""Older versions of ONNX give sums another form."""
INPUT = "pixels"
PROBABILITIES = "probabilities"
DISTANCE = "distance"


@dataclass(frozen=True)
class Points:
    """What is averaged over: noise (N, L), and inverse temperatures (L,)."""

    noise: NDArray[np.float32]
    inverse: NDArray[np.float32]


@torch.no_grad()
def export_task(fitted: FittedRegression, parameters: AnswerParameters) -> bytes:
    """Return the fitted task and its encoder as one serialised ONNX model."""
    encoder = fitted.saved.open_encoder()
    if encoder.preprocessing is None:
        raise ModelError(f"The encoder {encoder.name} has no preprocessing that can be written.")
    graph = encoder.graph()
    network = onnx.load_from_string(graph.model)
    _check_opset(network)
    network = add_prefix(network, PREFIX)
    writer = NodeWriter()
    _write_input(writer, encoder.preprocessing, PREFIX + graph.input)
    first = len(writer.nodes)
    _write_answers(writer, fitted.regression, PREFIX + graph.output, _points(fitted, parameters))
    nodes = [*writer.nodes[:first], *network.graph.node, *writer.nodes[first:]]
    batch = _batch_of(network, PREFIX + graph.input)
    size = encoder.preprocessing.size
    way = len(fitted.task.classes)
    whole = helper.make_graph(
        nodes,
        "samovar task",
        [helper.make_tensor_value_info(INPUT, TensorProto.UINT8, [batch, size, size, 3])],
        [
            helper.make_tensor_value_info(PROBABILITIES, TensorProto.FLOAT, [batch, way]),
            helper.make_tensor_value_info(DISTANCE, TensorProto.FLOAT, [batch]),
        ],
        [*network.graph.initializer, *writer.constants],
    )
    model = helper.make_model(
        whole,
        opset_imports=network.opset_import,
        ir_version=network.ir_version,
        functions=network.functions,
        producer_name="samovar",
        producer_version=VERSION,
    )
    helper.set_model_props(model, _metadata(fitted, parameters, encoder.preprocessing))
    content: bytes = model.SerializeToString()
    return content


def _check_opset(network: Any) -> None:
    """Refuse a network whose operators are too old."""
    for entry in network.opset_import:
        if entry.domain in ("", "ai.onnx") and entry.version < OLDEST_OPSET:
            raise ModelError(
                f"The encoder's file has opset {entry.version}, and {OLDEST_OPSET} is the oldest "
                "that can be joined with a task. Export it again with a newer one."
            )


def _batch_of(network: Any, name: str) -> str | int:
    """Return how many images the network takes at once: any number, or exactly so many."""
    for value in network.graph.input:
        if value.name == name:
            dimension = value.type.tensor_type.shape.dim[0]
            if dimension.HasField("dim_value"):
                return int(dimension.dim_value)
    return "n"


def _points(fitted: FittedRegression, parameters: AnswerParameters) -> Points:
    """Return the very points that the classifier itself averages over."""
    noise = PredictiveNoise(parameters.seed, [0], quasi=True)
    moments = fitted.regression.moments(fitted.task.vectors[:1])
    sampler = TemperedLogitSampler(fitted.regression.gaussian(moments), fitted.regression, noise)
    drawn = []
    inverses = []
    samples = int(parameters.samples)
    for block in sample_blocks(samples, sampler.numbers_per_sample, torch.device("cpu")):
        epsilon, inverse = sampler.points(0, block)
        drawn.append(epsilon)
        inverses.append(inverse)
    return Points(torch.cat(drawn, 1).numpy(), torch.cat(inverses).numpy())


def _write_input(writer: NodeWriter, preprocessing: Preprocessing, output: str) -> None:
    """Write pixels (n, size, size, 3) to the encoder's input, as `encoder_input` does."""
    value = writer.add("Cast", INPUT, to=TensorProto.FLOAT)
    value = writer.add("Transpose", value, perm=[0, 3, 1, 2])
    if preprocessing.channels == "bgr":
        order = writer.constant("bgr", np.array([2, 1, 0], np.int64))
        value = writer.add("Gather", value, order, axis=1)
    value = writer.add("Mul", value, writer.constant("scale", _single(preprocessing.scale)))
    mean = np.array(preprocessing.mean, np.float32).reshape(1, 3, 1, 1)
    std = np.array(preprocessing.std, np.float32).reshape(1, 3, 1, 1)
    value = writer.add("Sub", value, writer.constant("mean", mean))
    inverse = writer.constant("inverse_std", np.float32(1) / std)
    writer.nodes.append(helper.make_node("Mul", [value, inverse], [output]))


def _write_answers(
    writer: NodeWriter, regression: Regression, vectors: str, points: Points
) -> None:
    """Write the encoder's vectors (n, d) to probabilities (n, N) and distances (n,)."""
    axis = writer.constant("last_axis", np.array([-1], np.int64))
    centred = _write_features(writer, regression, vectors, axis)
    scores = writer.add("MatMul", centred, writer.constant("weights", _weights(regression)))
    explained = writer.add("MatMul", centred, writer.constant("known", _known(regression)))
    total = writer.add("ReduceSum", writer.add("Mul", centred, centred), axis, keepdims=1)
    known = writer.add("ReduceSum", writer.add("Mul", explained, explained), axis, keepdims=1)
    zero = writer.constant("zero_variance", _double(0))
    variance = writer.add("Max", writer.add("Sub", total, known), zero)  # (n, 1)
    _write_distance(writer, scores, variance, axis)
    _write_probabilities(writer, regression, scores, variance, points)


def _write_features(writer: NodeWriter, regression: Regression, vectors: str, axis: str) -> str:
    """Write `unit_features` of the vectors, less the mean of the support, in float64."""
    power = writer.constant("power", _single(regression.model.power))
    rooted = writer.add("Pow", writer.add("Abs", vectors), power)
    rooted = writer.add("Mul", rooted, writer.add("Sign", vectors))
    rooted = writer.add("Cast", rooted, to=TensorProto.DOUBLE)
    squares = writer.add("ReduceSum", writer.add("Mul", rooted, rooted), axis, keepdims=1)
    tiny = writer.constant("tiny", _double(1e-12))
    length = writer.add("Max", writer.add("Sqrt", squares), tiny)
    mean = writer.constant("support_mean", regression.spectrum.mean.numpy()[None])
    return writer.add("Sub", writer.add("Div", rooted, length), mean)


def _write_distance(writer: NodeWriter, scores: str, variance: str, axis: str) -> None:
    """Write log v - 2 max s, as `rejection_score` does."""
    smallest = writer.constant("smallest_variance", _double(SMALLEST_VARIANCE))
    logarithm = writer.add("Log", writer.add("Max", variance, smallest))
    one = writer.constant("one_value", np.array([1], np.int64))
    best = f"best_{len(writer.nodes)}"
    writer.nodes.append(helper.make_node("TopK", [scores, one], [best, f"{best}_place"], axis=-1))
    twice = writer.add("Mul", best, writer.constant("two", _double(2)))
    distance = writer.add("Sub", logarithm, twice)
    flat = writer.add("Squeeze", distance, axis)
    writer.nodes.append(helper.make_node("Cast", [flat], [DISTANCE], to=TensorProto.FLOAT))


def _write_probabilities(
    writer: NodeWriter, regression: Regression, scores: str, variance: str, points: Points
) -> None:
    """Write the average of the softmax over sampled logits, as `predict_regression` does."""
    model = regression.model
    alpha = float(model.log_scale(regression.shape).exp())
    at_five_ways, slope = model.bend.tolist()
    bend = float(np.exp(at_five_ways + slope * np.log(regression.shape.way / 5)))
    scaled = writer.add("Mul", writer.add("Abs", scores), writer.constant("bend", _double(bend)))
    linked = writer.add("Log", writer.add("Add", scaled, writer.constant("one", _double(1))))
    linked = writer.add("Mul", linked, writer.add("Sign", scores))
    mean = writer.add("Mul", linked, writer.constant("alpha", _double(alpha / bend)))
    share = writer.constant("variance_share", _double(float(model.variance.exp())))
    noisy = writer.add(
        "Add", writer.add("Mul", variance, share), writer.constant("rest", _double(1e-12))
    )
    # Each of two logits has half of the variance of their difference.
    half = writer.constant("deviation", _double(alpha / np.sqrt(2)))
    deviation = writer.add("Mul", writer.add("Sqrt", noisy), half)
    last = writer.constant("sample_axis", np.array([2], np.int64))
    mean = writer.add("Unsqueeze", writer.add("Cast", mean, to=TensorProto.FLOAT), last)
    deviation = writer.add("Unsqueeze", writer.add("Cast", deviation, to=TensorProto.FLOAT), last)
    noise = writer.constant("noise", points.noise[None])
    logits = writer.add("Add", mean, writer.add("Mul", deviation, noise))
    inverse = writer.constant("inverse_temperatures", points.inverse[None, None])
    sampled = writer.add("Softmax", writer.add("Mul", logits, inverse), axis=1)
    total = writer.add("ReduceSum", sampled, last, keepdims=0)
    count = writer.constant("samples", _single(points.noise.shape[1]))
    writer.nodes.append(helper.make_node("Div", [total, count], [PROBABILITIES]))


def _weights(regression: Regression) -> NDArray[np.float64]:
    """Return W in the coordinates of the features, (d, N)."""
    spectrum = regression.spectrum
    ridge = regression.model.log_ridge(regression.shape).exp()
    products = spectrum.coordinates.T @ regression.targets / (spectrum.values + ridge)[:, None]
    return (spectrum.directions.T @ products).numpy()


def _known(regression: Regression) -> NDArray[np.float64]:
    """Return the matrix (d, r) by which the variance that the support explains is a square."""
    spectrum = regression.spectrum
    if not len(spectrum.values):  # a support of one image explains nothing
        return np.zeros((len(spectrum.mean), 1))
    ridge = regression.model.log_ridge(regression.shape).exp()
    shrinkage = spectrum.values / (spectrum.values + ridge)
    return (spectrum.directions.T * shrinkage.sqrt()).numpy()


def _single(value: float) -> NDArray[np.float32]:
    return np.array(value, np.float32)


def _double(value: float) -> NDArray[np.float64]:
    return np.array(value, np.float64)


def _metadata(
    fitted: FittedRegression, parameters: AnswerParameters, preprocessing: Preprocessing
) -> dict[str, str]:
    """Return what whoever uses the model must know, as texts."""
    threshold = None
    if parameters.reject is not None:
        threshold = fitted.threshold(parameters.reject)
    facts: dict[str, Any] = {
        "labels": [str(label) for label in fitted.task.classes],
        "preprocessing": preprocessing.to_json(),
        "threshold": threshold,
        "reject_label": str(parameters.reject_label),
        "samples": int(parameters.samples),
        "identity": fitted.saved.identity,
    }
    return {name: json.dumps(value) for name, value in facts.items()}
