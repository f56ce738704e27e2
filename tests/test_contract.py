"""The order of the rooms holds, and an import against it is noticed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def source(tmp_path) -> Path:
    """A copy of the package's code that may be spoilt."""
    folder = tmp_path / "src"
    shutil.copytree(
        ROOT / "src", folder, ignore=shutil.ignore_patterns("shipped", "__pycache__", "*.egg-info")
    )
    return folder


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the copy by the project's own configuration."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=source,
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_room_imports_only_what_it_may(source):
    finished = lint_imports(source)
    assert finished.returncode == 0, finished.stdout
    assert "0 broken" in finished.stdout


@pytest.mark.parametrize(
    ("module", "planted", "contract"),
    [
        (
            "core/files.py",
            "samovar.models.inference",
            "Each room imports only the rooms below it",
        ),
        ("settings/model.py", "torch", "Settings need neither numbers nor pictures"),
        (
            "models/inference.py",
            "rich",
            "The mathematics knows nothing of processes, terminals and image files",
        ),
    ],
)
def test_an_import_against_the_contract_is_noticed(module, planted, contract, source):
    with (source / "samovar" / module).open("a") as file:
        file.write(f"\nimport {planted}\n")
    finished = lint_imports(source)
    assert finished.returncode == 1, finished.stdout
    assert f"{contract} BROKEN" in finished.stdout
    assert planted in finished.stdout
