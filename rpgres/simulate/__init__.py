"""Simulation: actions and scenes played many times, by one process, several, or a Dask cluster, and summed up.

A job is a simulation as plain data. Workers rebuild it and play blocks of runs; their counts are added in the order of
runs, and the record has shares and intervals of the counts. Run N, from 0, has the seed `SEED#N`.
"""

from __future__ import annotations

from rpgres.simulate.blocks import Crew, Plan, Tally, simulated
from rpgres.simulate.jobs import Job, action_job, scene_job
from rpgres.simulate.simulation import SimulationResult

__all__ = [
    "Crew",
    "Job",
    "Plan",
    "SimulationResult",
    "Tally",
    "action_job",
    "scene_job",
    "simulated",
]
