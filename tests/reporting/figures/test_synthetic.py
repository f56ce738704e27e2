"""The synthetic study's figure has a panel for each sigma_y and shows every method."""

import copy
import io

from PIL import Image

from samovar.reporting.figures.synthetic import synthetic_figure


def study(sigmas: list[float]) -> dict:
    """A study whose Monte Carlo loses its variance."""
    results = []
    for sigma_y in sigmas:
        for method, samples, mean in (
            ("exact", None, 1.0),
            ("variational", 1, 0.9),
            ("variational", 10, 0.95),
            ("monte_carlo", 1, 0.0),
            ("monte_carlo", 10, 0.6),
        ):
            ratio = {"mean": mean, "std": 0.05, "seeds": 3}
            row = {"method": method, "samples": samples, "sigma_y": sigma_y}
            results.append(row | {"variance_ratio": ratio})
    theory = [{"sigma_y": sigma_y, "zero_variance_limit": 6.0} for sigma_y in sigmas]
    return {"results": results, "theory": theory}


def width(picture: bytes) -> int:
    with Image.open(io.BytesIO(picture)) as image:
        return image.size[0]


def test_every_sigma_has_a_panel():
    one = width(synthetic_figure(study([0.5])))
    three = width(synthetic_figure(study([0.1, 0.5, 1.0])))
    assert three - one == 2 * 3.4 * 200


def test_the_picture_depends_on_every_method():
    before = study([0.5])
    picture = synthetic_figure(before)
    assert synthetic_figure(copy.deepcopy(before)) == picture
    for position in range(len(before["results"])):
        after = copy.deepcopy(before)
        after["results"][position]["variance_ratio"]["mean"] += 0.2
        assert synthetic_figure(after) != picture
