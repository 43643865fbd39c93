"""Scenes: a TOML script of actions at one table, read, played, proved against its `expect`s, and checked."""

from __future__ import annotations

from rpgres.scenes.checking import check_scene, require_sound, scene_diagnostics
from rpgres.scenes.playing import PlayedStep, Unanswered, play_scene, seed_of
from rpgres.scenes.program import Leaf, Scene
from rpgres.scenes.proving import Mismatch, ProvedFile, ProvedScenes, prove_scene
from rpgres.scenes.reading import Overrides, find_scene, load_scene, open_scene, read_scene, scene_file, scene_names
from rpgres.scenes.records import ABSENT, SceneFile
from rpgres.scenes.views import SceneResult, run_scene, scene_result, step_record

__all__ = [
    "ABSENT",
    "Leaf",
    "Mismatch",
    "Overrides",
    "PlayedStep",
    "ProvedFile",
    "ProvedScenes",
    "Scene",
    "SceneFile",
    "SceneResult",
    "Unanswered",
    "check_scene",
    "find_scene",
    "load_scene",
    "open_scene",
    "play_scene",
    "prove_scene",
    "read_scene",
    "require_sound",
    "run_scene",
    "scene_diagnostics",
    "scene_file",
    "scene_names",
    "scene_result",
    "seed_of",
    "step_record",
]
