"""Simulation: actions and scenes played many times, by one process, several, or a Dask cluster, and summed up."""

from __future__ import annotations

from rpgres.simulate.jobs import Job, action_job, scene_job
from rpgres.simulate.pace import Plan
from rpgres.simulate.running import Crew, simulated
from rpgres.simulate.summaries import SimulationResult
from rpgres.simulate.tallies import Tally, empty_tally

__all__ = [
    "Crew",
    "Job",
    "Plan",
    "SimulationResult",
    "Tally",
    "action_job",
    "empty_tally",
    "scene_job",
    "simulated",
]
