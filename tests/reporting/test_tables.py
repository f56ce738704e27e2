"""The table of the synthetic study has a row for every training and a column for every sigma_y."""

from rich.console import Console

from samovar.reporting.tables import synthetic_table


def entry(method: str, samples: int | None, sigma_y: float, mean: float) -> dict:
    ratio = {"mean": mean, "std": 0.1, "seeds": 2}
    return {"method": method, "samples": samples, "sigma_y": sigma_y, "variance_ratio": ratio}


def test_the_synthetic_study_as_a_table(capsys):
    result = {
        "settings": {"sigma_y": [0.5, 1.0], "samples": [1, 20]},
        "results": [
            entry("exact", None, 0.5, 1.01),
            entry("exact", None, 1.0, 1.02),
            entry("monte_carlo", 1, 0.5, 0.0),
            entry("monte_carlo", 20, 0.5, 0.7),
            entry("monte_carlo", 1, 1.0, 0.2),
            entry("monte_carlo", 20, 1.0, 0.9),
        ],
        "theory": [
            {"sigma_y": 0.5, "zero_variance_limit": 6.25},
            {"sigma_y": 1.0, "zero_variance_limit": 7.0},
        ],
    }
    Console(width=120).print(synthetic_table(result))
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in capsys.readouterr().out.splitlines()
        if "│" in line
    ]
    assert rows == [
        ["exact", "", "1.010 ± 0.100", "1.020 ± 0.100"],
        ["Monte Carlo", "1", "0.000 ± 0.100", "0.200 ± 0.100"],
        ["Monte Carlo", "20", "0.700 ± 0.100", "0.900 ± 0.100"],
        ["Monte Carlo prefers 0 up to", "L*", "6.25", "7"],
    ]
