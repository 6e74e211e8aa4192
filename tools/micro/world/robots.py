"""Scenes in which something acts: two kinds of robot arm, a pusher, a car. Each carries its actions.

Meanings of an action row i (0-based), which leads from frame i to frame i + 1:
- bridge_orig_lerobot (10), gantry arm: x, y, z step of the tip in units of 16 px (y down, z always 0), rotation as the
  first two columns of a matrix (always the identity: 1 0 0 0 1 0), gripper after the step (1 open, 0 closed).
- droid_lerobot (10), two-link arm: the same ten numbers.
- droid_lerobot (8), two-link arm: joint angles in radians at frame i + 1 (shoulder from straight up, elbow, wrist =
  minus their sum, four unused zeros), gripper.
- pusht (2): place of the pusher at frame i + 1, x / (width / 2) - 1 and y / (height / 2) - 1.
- av (9): pose change over the two seconds to come at the present speed and turn rate: right, down, forward in units of
  20 m, then the first two columns of the turn about the vertical axis: cos 0 -sin, 0 1 0.
Steps, angles and places are given `units.LARGER` times as large.
"""

import numpy as np

from world import units
from world.scene import (
    BACKGROUND_NAMES, BALL, BOX, COLOR_NAMES, COLORS, FPS, RING, ROAD, SHAPES, SQUARE, Scene,
)

STEP = 16.0  # pixels of one unit of an arm's step
GRAB = 14.0  # the gripper takes an object whose centre is this near
ARM_COLOR = (0.28, 0.28, 0.32)
FINGER_COLOR = (0.15, 0.15, 0.18)
LINK = 105.0  # length of each link of the two-link arm
PUSH_PARTS = 16  # of a frame, in which a push is played
IDENTITY = (1, 0, 0, 0, 1, 0)


def ease(n):
    """n + 1 values from 0 to 1, slow at both ends."""
    return 0.5 - 0.5 * np.cos(np.pi * np.arange(n + 1) / n)


def joints(x, y, base):
    """Shoulder and elbow of the two-link arm whose tip is at x, y: angles in radians."""
    dx, dy = x - base[0], base[1] - y
    reach = np.clip(np.hypot(dx, dy), 1, 2 * LINK - 1e-3)
    elbow = np.pi - np.arccos(1 - reach**2 / (2 * LINK**2))
    shoulder = np.arctan2(dx, dy) - elbow / 2
    return shoulder, elbow


def tip_of(shoulder, elbow, base):
    """Inverse of joints: x, y of the tip."""
    x = base[0] + LINK * (np.sin(shoulder) + np.sin(shoulder + elbow))
    y = base[1] - LINK * (np.cos(shoulder) + np.cos(shoulder + elbow))
    return x, y


def simulate_arm(tip, gripper, things):
    """Moves things with the gripper: tip [F, 2], gripper [F], things [n, 2] -> places [n, F, 2]."""
    frames = len(tip)
    places = np.repeat(np.asarray(things, float)[:, None], frames, 1)
    held = None
    for f in range(1, frames):
        places[:, f] = places[:, f - 1]
        if gripper[f] >= 0.5:
            held = None
        elif held is None:
            distance = np.hypot(*(places[:, f] - tip[f]).T)
            if distance.min() < GRAB:
                held = int(distance.argmin())
        if held is not None:
            places[held, f] += tip[f] - tip[f - 1]
    return places


def simulate_push(pusher, block, contact):
    """A disc pushes another that sticks to it: pusher [F, 2], block [2] -> block's places [F, 2].

    While they touch, the block goes along with the pusher; it slides aside only where the pusher would enter it, and stays where the
    pusher leaves it.
    """
    places = np.repeat(np.asarray(block, float)[None], len(pusher), 0)
    for f in range(1, len(pusher)):
        place, step = places[f - 1].copy(), (pusher[f] - pusher[f - 1]) / PUSH_PARTS
        for part in range(1, PUSH_PARTS + 1):
            at = pusher[f - 1] + step * part
            if np.hypot(*(place - at)) < contact:
                place = place + step
                away = place - at
                place = at + away * max(1, contact / max(np.hypot(*away), 1e-6))
        places[f] = place
    return places


def spread(rng, n, low, high, apart):
    """n points in the box low..high, no two nearer than `apart`."""
    while True:
        points = rng.uniform(low, high, (n, 2))
        gaps = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 1e9 * np.eye(n)
        if gaps.min() >= apart:
            return points


def pick_place_plan(rng, frames, start, thing, plate):
    """Tip path and gripper of one pick and place; the timeline is fixed in fractions of the clip."""
    n = frames - 1
    reach, close, carry = round(0.36 * n), round(0.44 * n), round(0.82 * n)
    tip, gripper = np.zeros((frames, 2)), np.ones(frames)
    tip[: reach + 1] = start + ease(reach)[:, None] * (thing - start)
    tip[reach : close + 1] = thing
    tip[close : carry + 1] = thing + ease(carry - close)[:, None] * (plate - thing)
    tip[carry:] = plate
    gripper[reach + 1 : carry + 1] = 0
    return tip, gripper


def wander_plan(rng, frames, low, high, start, things):
    """A path through random points, closing at times; for the dynamics tasks."""
    knots = np.vstack([start, rng.uniform(low, high, (3, 2))])
    if rng.random() < 0.6:
        knots[1] = things[rng.integers(len(things))]
    at = np.linspace(0, frames - 1, len(knots))
    frame = np.arange(frames)
    tip = np.stack([np.interp(frame, at, knots[:, i]) for i in range(2)], 1)
    gripper = np.ones(frames)
    begin = int(rng.integers(frames // 4, frames // 2))
    gripper[begin : begin + int(rng.integers(4, frames))] = 0 if rng.random() < 0.8 else 1
    return tip, gripper


def arm_scene(rng, domain, frames, plan=None, width=320, height=192):
    """A gantry arm (bridge) or a two-link arm (droid) over two objects and two plates.

    domain: bridge_orig_lerobot, droid_lerobot, or droid_joints (droid_lerobot with 8 joint numbers).
    plan: task or wander, by chance when None.
    """
    gantry = domain == "bridge_orig_lerobot"
    backdrop = BACKGROUND_NAMES.index("sand" if gantry else "grey")
    scene = Scene(width, height, frames, backdrop)
    low, high = np.array([45.0, 60.0]), np.array([width - 45.0, height - 30.0 if gantry else height - 55.0])
    points = spread(rng, 4, low, high, 50 if gantry else 44)
    colors = rng.permutation(len(COLOR_NAMES))[:4]
    shapes = rng.integers(0, 3, 2)
    start = np.array([rng.uniform(60, width - 60), rng.uniform(28, 60)])
    plan = ("task" if rng.random() < 0.65 else "wander") if plan is None else plan
    thing, plate = int(rng.integers(2)), int(rng.integers(2))
    if plan == "task":
        tip, gripper = pick_place_plan(rng, frames, start, points[thing], points[2 + plate])
    else:
        tip, gripper = wander_plan(rng, frames, low, high, start, points[:2])
    places = simulate_arm(tip, gripper, points[:2])
    for i in range(2):
        scene.put(i, RING, COLORS[COLOR_NAMES[colors[2 + i]]], points[2 + i, 0], points[2 + i, 1], 21, depth=0.3, shaded=False)
        scene.put(2 + i, int(shapes[i]), COLORS[COLOR_NAMES[colors[i]]], places[i, :, 0], places[i, :, 1], 12, depth=0.6)
    base = (width / 2, height + 8.0)
    x, y = tip.T
    opening = 10 + 7 * gripper
    if gantry:
        scene.put(4, BOX, ARM_COLOR, x, (y - 24) / 2 - 10, 5, (y - 24) / 2 + 10, depth=0.9, marker=4, shaded=False)
        scene.put(5, BOX, ARM_COLOR, x, y - 22, opening + 3, 4, depth=0.9, marker=4, shaded=False)
    else:
        shoulder, elbow = joints(x, y, base)
        knee = np.stack([base[0] + LINK * np.sin(shoulder), base[1] - LINK * np.cos(shoulder)])
        scene.put(4, BOX, ARM_COLOR, (base[0] + knee[0]) / 2, (base[1] + knee[1]) / 2, 6, LINK / 2, shoulder, depth=0.9, marker=4, shaded=False)
        scene.put(5, BOX, (0.38, 0.38, 0.44), (x + knee[0]) / 2, (y + knee[1]) / 2, 5, LINK / 2 - 6, shoulder + elbow, depth=0.9, marker=4, shaded=False)
    for i, side in enumerate((-1, 1)):
        scene.put(6 + i, BOX, FINGER_COLOR, x + side * opening, y - 8, 3, 11, depth=0.95, marker=4, shaded=False)
    actions = np.zeros((frames - 1, 10))
    if domain == "droid_joints":
        actions[:, 0], actions[:, 1], actions[:, 2] = shoulder[1:], elbow[1:], -(shoulder + elbow)[1:]
        actions[:, 7] = gripper[1:]
    else:
        actions[:, :2] = np.diff(tip, axis=0) / STEP
        actions[:, 3:9] = IDENTITY
        actions[:, 9] = gripper[1:]
    scene.actions, scene.action_dim = units.scaled(actions, domain, units.LARGER), 8 if domain == "droid_joints" else 10
    scene.domain = "droid_lerobot" if domain == "droid_joints" else domain
    name = lambda i: COLOR_NAMES[colors[i]]
    scene.facts = {
        "family": "arm", "domain": domain, "plan": plan, "background": BACKGROUND_NAMES[backdrop],
        "object": f"{name(thing)} {SHAPES[shapes[thing]]}", "target": f"{name(2 + plate)} ring",
        "thing": thing, "start": points[:2], "goal": points[2 + plate], "tip": tip,
    }
    return scene


def push_scene(rng, frames, plan=None, width=320, height=192):
    """pusht: a dark disc pushes a square to a ring."""
    backdrop = int(rng.integers(len(BACKGROUND_NAMES)))
    backdrop = 0 if backdrop == 1 else backdrop  # the dark pusher would not show on black
    scene = Scene(width, height, frames, backdrop)
    color, ring = rng.permutation(len(COLOR_NAMES))[:2]
    half, radius = 17.0, 9.0
    contact = half + radius
    low, high = np.array([50.0, 50.0]), np.array([width - 50.0, height - 50.0])
    while True:
        block, goal = rng.uniform(low, high), rng.uniform(low, high)
        if 60 < np.hypot(*(goal - block)) < 170:
            break
    toward = (goal - block) / np.hypot(*(goal - block))
    behind = block - toward * (contact + 6)
    side = np.array([-toward[1], toward[0]]) * rng.choice([-1, 1])
    start = np.clip(behind - toward * rng.uniform(5, 40) + side * rng.uniform(0, 40), 14, [width - 14, height - 14])
    plan = ("task" if rng.random() < 0.7 else "wander") if plan is None else plan
    n = frames - 1
    if plan == "task":
        first = round(0.33 * n)
        pusher = np.vstack([
            start + ease(first)[:, None] * (behind - start),
            behind + ease(n - first)[1:, None] * (goal - toward * contact - behind),
        ])
    else:
        knots = np.vstack([start, block + rng.normal(0, 12, 2), rng.uniform(low, high, (2, 2))])
        at = np.linspace(0, n, len(knots))
        pusher = np.stack([np.interp(np.arange(frames), at, knots[:, i]) for i in range(2)], 1)
    places = simulate_push(pusher, block, contact)
    scene.put(0, RING, COLORS[COLOR_NAMES[ring]], goal[0], goal[1], 24, depth=0.3, shaded=False)
    scene.put(1, SQUARE, COLORS[COLOR_NAMES[color]], places[:, 0], places[:, 1], half, depth=0.6)
    scene.put(2, BALL, (0.2, 0.2, 0.22), pusher[:, 0], pusher[:, 1], radius, depth=0.8, shaded=False)
    actions = np.zeros((n, 10))
    actions[:, 0], actions[:, 1] = pusher[1:, 0] / (width / 2) - 1, pusher[1:, 1] / (height / 2) - 1
    scene.actions, scene.action_dim, scene.domain = units.scaled(actions, "pusht", units.LARGER), 2, "pusht"
    scene.facts = {
        "family": "push", "domain": "pusht", "plan": plan, "background": BACKGROUND_NAMES[backdrop],
        "object": f"{COLOR_NAMES[color]} square", "target": f"{COLOR_NAMES[ring]} ring",
        "start": block, "goal": goal, "tip": pusher, "contact": contact,
    }
    return scene


FOCAL, EYE, HORIZON = 0.6, 1.6, 0.42  # focal length in widths, eye height in metres, horizon in heights


def project(camera, x, z, width, height):
    """World point on the ground -> screen x, screen y of its foot, pixels per metre; depth below 1 is hidden."""
    dx, dz = x - camera[:, 0], z - camera[:, 1]
    sin, cos = np.sin(camera[:, 2]), np.cos(camera[:, 2])
    right, ahead = dx * cos - dz * sin, dx * sin + dz * cos
    near = np.maximum(ahead, 1.0)
    scale = FOCAL * width / near
    scale = np.where(ahead < 1.5, 0, scale)
    return width / 2 + right * scale, HORIZON * height + EYE * scale, scale


def driving_scene(rng, frames, width=320, height=192):
    """av: a straight road seen from a car that drives and turns; coloured posts stand at its sides."""
    scene = Scene(width, height, frames, ROAD)
    fast = rng.random() < 0.5
    turn = int(rng.integers(3))  # 0 straight, 1 left, 2 right
    speed = (rng.uniform(13, 20) if fast else rng.uniform(4, 9)) + np.linspace(0, rng.uniform(-2, 2), frames - 1)
    rate = (rng.uniform(-0.03, 0.03), -rng.uniform(0.2, 0.45), rng.uniform(0.2, 0.45))[turn]
    rate = rate * (1 + np.linspace(0, rng.uniform(-0.4, 0.3), frames - 1))
    camera = np.zeros((frames, 3))
    camera[0] = rng.uniform(-1.5, 1.5), rng.uniform(0, 8), rng.uniform(-0.1, 0.1)
    for f in range(1, frames):
        heading = camera[f - 1, 2] + rate[f - 1] / FPS
        camera[f] = camera[f - 1, 0] + np.sin(heading) * speed[f - 1] / FPS, camera[f - 1, 1] + np.cos(heading) * speed[f - 1] / FPS, heading
    scene.camera = camera
    spots = sorted(((camera[0, 1] + 9 + 9 * i + rng.uniform(-2, 2), (6.5 + rng.uniform(0, 3)) * (1 if i % 2 else -1)) for i in range(7)), reverse=True)
    for slot, (z, x) in enumerate(spots):
        color = COLORS[COLOR_NAMES[rng.integers(len(COLOR_NAMES))]]
        px, foot, scale = project(camera, x, z, width, height)
        hidden = scale == 0
        px = np.where(hidden, -1e4, px)
        scene.put(slot, BOX, color, px, foot - 1.25 * scale, np.maximum(0.35 * scale, 0.1), np.maximum(1.25 * scale, 0.1), depth=0.5, shaded=False)
    actions = np.zeros((frames - 1, 10))
    actions[:, 2] = speed * 2 / 20
    actions[:, 3], actions[:, 5], actions[:, 7] = np.cos(2 * rate), -np.sin(2 * rate), 1
    scene.actions, scene.action_dim, scene.domain = actions, 9, "av"
    scene.hum[:, 0], scene.hum[:, 1], scene.hum_pitch = 0.3, 0.5, 200.0 if fast else 100.0
    scene.facts = {
        "family": "drive", "domain": "av", "plan": "task", "speed": "quickly" if fast else "slowly",
        "turn": ("straight", "left", "right")[turn],
    }
    return scene
