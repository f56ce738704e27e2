"""Every Python block of the README and the docs runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


BLOCKS = [
    pytest.param(code, id=f"{path.name}-{number}")
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
    )
]


@pytest.fixture(scope="module")
def shared_data(tmp_path_factory) -> Path:
    """A data folder for all blocks: several train on glyphs, which take seconds to draw."""
    return tmp_path_factory.mktemp("data")


@pytest.mark.slow
@pytest.mark.parametrize("code", BLOCKS)
def test_code_block_runs(code, shared_data, tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_DATA", str(shared_data))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "documentation", "exec"), {})
