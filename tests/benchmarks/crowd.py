"""Environments in which much else is installed, to measure that rpgres does not start slower there. Asserts nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
AFTER_HOURS = ROOT / "tests" / "packages" / "after-hours" / "rpgres_after_hours"
OTHERS = 200  # distributions that have nothing to do with rpgres
RULESETS = 20  # those that bring a ruleset

WORDS = "A distribution that does something else, and says so at the usual length. "
METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: Something else.
Home-page: https://example.org/{name}
Author-email: Somebody <somebody@example.org>
License-Expression: MIT
Classifier: Programming Language :: Python :: 3
Classifier: Programming Language :: Python :: 3.11
Classifier: Programming Language :: Python :: 3.12
Requires-Python: >=3.9
Requires-Dist: attrs>=21
Requires-Dist: packaging
Description-Content-Type: text/markdown

# {name}

"""


class Environments:
    """Three environments in a folder, alike but for what is installed beside rpgres.

    Attributes:
        alone: the Python of one with rpgres and what it needs.
        one: the same with one third-party ruleset.
        crowded: the same with `OTHERS` further distributions and `RULESETS` rulesets.
    """

    def __init__(self, folder: Path) -> None:
        alone, one, crowded = folder / "alone", folder / "one", folder / "crowded"
        _quiet(sys.executable, "-m", "venv", alone)
        _quiet(_python(alone), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT)
        for copy in (one, crowded):  # an environment finds itself by where its Python is, so a copy is another one
            shutil.copytree(alone, copy, symlinks=True)
        _install_ruleset(_site(one), "after-hours")
        _install_ruleset(_site(crowded), "after-hours")
        for number in range(1, RULESETS):
            _install_ruleset(_site(crowded), f"after-hours-{number}")
        for number in range(OTHERS):
            _install_other(_site(crowded), f"other-{number}", has_scripts=number % 3 == 0)
        for environment in (alone, one, crowded):
            _quiet(_python(environment), "-m", "compileall", "-q", _site(environment))
        self.alone, self.one, self.crowded = map(_python, (alone, one, crowded))


def _quiet(*command: str | Path) -> None:
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run([str(part) for part in command], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")


def _python(environment: Path) -> Path:
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _site(environment: Path) -> Path:
    return next(environment.rglob("site-packages"))


def _install_other(site: Path, name: str, *, has_scripts: bool) -> None:
    module = name.replace("-", "_")
    (site / module).mkdir()
    (site / module / "__init__.py").write_text('"""Something else."""\n', "utf-8")
    for number in range(8):
        (site / module / f"part_{number}.py").write_text("VALUE = 1\n", "utf-8")
    _install_metadata(site, name, entry_points=f"[console_scripts]\n{name} = {module}:main\n" if has_scripts else "")


def _install_ruleset(site: Path, ruleset: str) -> None:
    """Install the ruleset of the tests' own package under an id of its own."""
    module = f"rpgres_{ruleset.replace('-', '_')}"
    shutil.copytree(AFTER_HOURS, site / module, ignore=shutil.ignore_patterns("__pycache__"))
    code = site / module / "__init__.py"
    code.write_text(code.read_text("utf-8").replace('Ruleset("after-hours"', f'Ruleset("{ruleset}"'), "utf-8")
    _install_metadata(site, f"rpgres-{ruleset}", entry_points=f"[rpgres]\n{ruleset} = {module}\n")


def _install_metadata(site: Path, name: str, *, entry_points: str) -> None:
    module, version = name.replace("-", "_"), "1.2.3"
    info = site / f"{module}-{version}.dist-info"
    info.mkdir()
    files = {
        "METADATA": METADATA.format(name=name, version=version) + WORDS * 40,
        "WHEEL": "Wheel-Version: 1.0\nGenerator: hatchling 1.27.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "INSTALLER": "pip\n",
        "top_level.txt": f"{module}\n",
    }
    if entry_points:
        files["entry_points.txt"] = entry_points
    for file, text in files.items():
        (info / file).write_text(text, "utf-8")
    listed = [path.relative_to(site).as_posix() for path in (site / module).rglob("*") if path.is_file()]
    listed += [f"{info.name}/{file}" for file in (*files, "RECORD")]
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in listed), "utf-8")
