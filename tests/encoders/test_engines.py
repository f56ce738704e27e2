"""Engines give the same vectors to any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers_encoders import SIZE, tiny_model

from samovar.encoders.engines import OnnxEngine


@pytest.mark.parametrize("threads", [1, 2])
def test_several_threads_may_call_at_once(threads):
    engine = OnnxEngine(tiny_model().SerializeToString(), threads)
    images = np.random.default_rng(0).normal(size=(8, 1, 3, SIZE, SIZE)).astype(np.float32)
    expected = [engine.run(image) for image in images]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(engine.run, images))
    np.testing.assert_array_equal(results, expected)


def test_an_output_is_chosen_by_name():
    outputs = [("maps", ("n", 5, "h", "w")), ("vectors", ("n", 5))]
    model = tiny_model(outputs=outputs).SerializeToString()
    image = np.zeros((1, 3, SIZE, SIZE), np.float32)
    assert OnnxEngine(model, 1).run(image).ndim == 4
    assert OnnxEngine(model, 1, output="vectors").run(image).shape == (1, 5)
