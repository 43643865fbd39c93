"""Write `rpgres/guide/odds.ipynb` anew and run it: `python -m tests.library.write_notebook`."""

from __future__ import annotations

import tempfile

import nbclient
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.support.checkout import ROOT

FILE = ROOT / "rpgres" / "guide" / "odds.ipynb"

CELLS = (
    "# Odds in a notebook\n\nExact odds, a grid of them, a simulation and a persistent table with `rpgres`. "
    "[The library](library.md) has every name.",
    ">import rpgres",
    "The odds of an action, with a chart:",
    '>rpgres.odds("fate", "overcome", skill=3, vs=2)',
    "What a house rule, or one more point of skill, changes is a grid:",
    '>grid = rpgres.odds_table("fate", "overcome", {"skill": range(5), "vs": range(1, 5)})\ngrid',
    "`pandas` takes its rows as they are:",
    ">import pandas\n\nframe = pandas.DataFrame(grid.table())\n"
    'frame.pivot_table(index="skill", columns="vs", values="success").round(3)',
    "Dice alone:",
    '>rpgres.odds("4d6kh3")',
    "A result, and what would have happened with other dice:",
    '>result = rpgres.resolve("fate", "overcome", skill=1, vs=2, seed=7, choose={"price": "fail"})\nresult',
    '>rpgres.whatif(result, given={"roll": "++++"})',
    "An estimate from 2,000 runs of a scene; the lines are 95 % intervals:",
    '>rpgres.simulate("fate/bribe", runs=2000, seed=7, auto=True)',
)


def cells() -> list[nbformat.NotebookNode]:
    """Return the cells; text behind `>` is code."""
    made = []
    for number, text in enumerate(CELLS):
        cell = new_code_cell(text[1:]) if text.startswith(">") else new_markdown_cell(text)
        made.append({**cell, "id": f"cell-{number}"})
    return [nbformat.from_dict(cell) for cell in made]


def run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook as it is after its cells were run."""
    with tempfile.TemporaryDirectory() as folder:
        return nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()


def main() -> None:
    """Write the notebook."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    done = run(new_notebook(cells=cells(), metadata={"kernelspec": kernel}))
    done.metadata = {"kernelspec": kernel}
    for cell in done.cells:
        cell.metadata = {}
    nbformat.write(done, FILE)


if __name__ == "__main__":
    main()
