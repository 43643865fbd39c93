"""The packages of tests/packages, and how they are put on the path as pip would install them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

from tests.support.checkout import ROOT

HOME = ROOT / "tests" / "packages"
AFTER_HOURS = HOME / "after-hours"
BROKEN = sorted(path.parent for path in HOME.glob("broken/*/pyproject.toml"))


def project(folder: Path) -> dict[str, Any]:
    """Return the `[project]` table of a package."""
    return dict(tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"])


def put_on_path(site: Path, *folders: Path) -> None:
    """Write packages with their metadata into a folder of the path of modules.

    Args:
        site: the folder.
        folders: the packages.
    """
    for folder in folders:
        described = project(folder)
        module = described["name"].replace("-", "_")
        shutil.copytree(folder / module, site / module, ignore=shutil.ignore_patterns("__pycache__"))
        info = site / f"{module}-{described['version']}.dist-info"
        info.mkdir()
        head = f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n"
        (info / "METADATA").write_text(head, "utf-8")
        points = described["entry-points"]["rpgres"].items()
        (info / "entry_points.txt").write_text("[rpgres]\n" + "".join(f"{id_} = {to}\n" for id_, to in points), "utf-8")


def quiet(*command: str | Path, cwd: Path, **extra: str) -> str:
    """Return what a command prints, run with an environment that knows nothing of this checkout."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "PYTEST", "RPGRES", "VIRTUAL_ENV", "XDG"))
    }
    env = {**kept, "HOME": str(cwd), "RPGRES_CACHE": "", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **extra}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"
    return done.stdout
