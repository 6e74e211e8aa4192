"""Makes many scenes on all cores; the same seed gives the same scenes."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np

from world import robots, toys

# What the autoencoder sees, by scene family.
PICTURE_ODDS = {"toy": 0.60, "bridge": 0.10, "droid": 0.09, "push": 0.07, "drive": 0.14}


def make_scene(rng, family, frames, width=320, height=192, split="any", plan=None, motion=None):
    """One scene of a family: toy, bridge, droid, droid_joints, push or drive. Robots need the 320x192 canvas."""
    if family == "toy":
        return toys.toy_scene(rng, width, height, frames, split, motion)
    if family == "push":
        return robots.push_scene(rng, frames, plan)
    if family == "drive":
        return robots.driving_scene(rng, frames)
    domain = {"bridge": "bridge_orig_lerobot", "droid": "droid_lerobot", "droid_joints": "droid_joints"}[family]
    return robots.arm_scene(rng, domain, frames, plan)


def _chunk(job):
    seed, families, frames, width, height, split, plan, motions = job
    rng = np.random.default_rng(seed)
    return [
        make_scene(rng, family, frames, width, height, split, plan, motion)
        for family, motion in zip(families, motions or [None] * len(families))
    ]


def make_scenes(seed, families, frames, width=320, height=192, split="any", plan=None, motions=None, workers=12):
    """Scenes for a list of family names, in order; `motions` (one a scene) fixes the toys' motions."""
    size = 64
    jobs = [
        ((seed, i), families[i : i + size], frames, width, height, split, plan, motions and motions[i : i + size])
        for i in range(0, len(families), size)
    ]
    if len(jobs) == 1 or workers == 1:
        return [scene for job in jobs for scene in _chunk(job)]
    with ProcessPoolExecutor(workers) as executor:
        return [scene for part in executor.map(_chunk, jobs) for scene in part]


def draw_families(rng, n, odds):
    """n family names by odds."""
    names = list(odds)
    weights = np.array([odds[k] for k in names])
    return [str(f) for f in rng.choice(names, n, p=weights / weights.sum())]
