"""Scenes of shapes that move: straight, bouncing, orbiting, growing, shrinking, colliding; one or two of them."""

import numpy as np

from world.scene import (
    BACKGROUND_NAMES, BACKGROUNDS, COLOR_NAMES, COLORS, DIRECTIONS, FPS, HUM_PITCH, SHAPES, Scene, is_held_out,
)

STEPS = ((1, 0), (-1, 0), (0, -1), (0, 1))  # of DIRECTIONS; y points down
# Distance per frame as a fraction of the canvas side along the motion.
SPEEDS = {"slowly": 0.008, "quickly": 0.020}
MOTIONS = ("straight", "bounce", "walls", "orbit", "grow", "shrink", "collide", "pair", "still")
MOTION_ODDS = (0.24, 0.15, 0.18, 0.14, 0.04, 0.03, 0.08, 0.12, 0.02)


def reflect(x, low, high):
    """Folds an unbounded coordinate into [low, high], as a ball between two walls moves."""
    span = high - low
    y = np.mod(x - low, 2 * span)
    return low + np.where(y > span, 2 * span - y, y)


def crossings(x, low, high):
    """Frame numbers (fractional) where the unbounded line x[0..n] passes a wall."""
    span, found = high - low, []
    cell = np.floor((x - low) / span)
    for i in np.flatnonzero(np.diff(cell)):
        wall = max(cell[i], cell[i + 1]) * span + low
        found.append(i + (wall - x[i]) / (x[i + 1] - x[i]))
    return found


def pick_look(rng, split, direction=None, taken=()):
    """Colour, shape and direction indices; `split` train, test or any decides about held-out combinations."""
    while True:
        color, shape = rng.integers(len(COLOR_NAMES)), rng.integers(len(SHAPES))
        way = rng.integers(4) if direction is None else direction
        held_out = is_held_out(color, shape, way)
        if color in taken or (split == "train" and held_out) or (split == "test" and not held_out):
            continue
        return int(color), int(shape), int(way)


def straight_path(rng, way, speed, frames, width, height, r):
    """x and y over frames of a straight run that begins where the whole run fits, if it can."""
    frame = np.arange(frames)
    dx, dy = STEPS[way]
    side, cross = (width, height) if dx else (height, width)
    travel = SPEEDS[speed] * side * (frames - 1)
    slack = max(side - travel - 2 * r, 0)
    along = r + slack * rng.uniform(0.1, 0.9)
    start = along if dx + dy > 0 else side - along
    run = reflect(start + (dx + dy) * SPEEDS[speed] * side * frame, r, side - r)
    level = np.full(frames, cross * rng.uniform(0.3, 0.7))
    return (run, level) if dx else (level, run)


def toy_scene(rng, width, height, frames, split="train", motion=None):
    """One scene; facts: motion, speed, background, objects [{color, shape, direction}] by name."""
    motion = str(rng.choice(MOTIONS, p=MOTION_ODDS)) if motion is None else motion
    backdrop = int(rng.integers(len(BACKGROUND_NAMES)))
    scene = Scene(width, height, frames, backdrop)
    short, frame = min(width, height), np.arange(frames)
    speed = "slowly" if rng.random() < 0.5 else "quickly"
    size = rng.uniform(0.09, 0.15) * short
    color, shape, way = pick_look(rng, split, None if motion in ("straight", "pair") else 0)
    objects, paths, radii = [(color, shape, way)], [], [np.full(frames, size)]
    middle = (width * rng.uniform(0.35, 0.65), height * rng.uniform(0.35, 0.65))
    if motion == "straight":
        paths.append(straight_path(rng, way, speed, frames, width, height, size))
    elif motion == "bounce":
        # free fall to the floor and back, elastically: y above the floor is a periodic parabola
        floor, top = height - size - 2, rng.uniform(0.12, 0.3) * height + size
        period = 18.0 if speed == "quickly" else 30.0
        phase = np.mod(frame + rng.uniform(0, period), period) / period
        first = rng.uniform(0, period)
        phase = np.mod(frame + first, period) / period
        y = floor - (floor - top) * 4 * phase * (1 - phase)
        x = np.full(frames, middle[0])
        paths.append((x, y))
        for k in range(int((frames + first) // period) + 1):
            hit = k * period - first
            if 0 <= hit <= frames - 1:
                scene.tick(hit / FPS, color, middle[0])
    elif motion == "walls":
        level = height * rng.uniform(0.3, 0.7)
        step = (0.026 if speed == "quickly" else 0.014) * width * (1 if rng.random() < 0.5 else -1)
        line = rng.uniform(size + 1, width - size - 1) + step * frame
        low, high = size + 1, width - size - 1
        paths.append((reflect(line, low, high), np.full(frames, level)))
        for hit in crossings(line, low, high):
            at = np.interp(hit, frame, line)
            scene.tick(hit / FPS, color, 0 if np.mod(np.round((at - low) / (high - low)), 2) == 0 else width)
    elif motion == "orbit":
        spin = 2 * np.pi / (32 if speed == "quickly" else 64) * (1 if rng.random() < 0.5 else -1)
        radius = short * 0.26
        angle = rng.uniform(0, 2 * np.pi) + spin * frame
        paths.append((width / 2 + radius * np.cos(angle), height / 2 + radius * np.sin(angle)))
    elif motion in ("grow", "shrink"):
        a, b = 0.07 * short, (0.2 if speed == "slowly" else 0.32) * short
        ramp = np.linspace(a, b, frames)
        radii = [ramp if motion == "grow" else ramp[::-1].copy()]
        paths.append((np.full(frames, middle[0]), np.full(frames, middle[1])))
    elif motion == "still":
        paths.append((np.full(frames, width * rng.uniform(0.2, 0.8)), np.full(frames, height * rng.uniform(0.25, 0.75))))
    elif motion == "collide":
        other = pick_look(rng, split, 1, taken=(color,))
        objects.append(other)
        radii.append(np.full(frames, size))
        level, hit = middle[1], rng.uniform(0.35, 0.6) * (frames - 1)
        step = (0.018 if speed == "quickly" else 0.009) * width
        gap = size + step * np.abs(frame - hit)
        paths += [(middle[0] - gap, np.full(frames, level)), (middle[0] + gap, np.full(frames, level))]
        scene.tick(hit / FPS, color, middle[0])
    else:  # pair
        other = pick_look(rng, split, None, taken=(color,))
        objects.append(other)
        size = radii[0][0] * 0.85
        radii = [np.full(frames, size)] * 2
        for i, (_, _, w) in enumerate(objects):
            x, y = straight_path(rng, w, speed, frames, width, height, size)
            # each keeps to its own half across the motion of the first
            if objects[0][2] < 2:
                y = y / height * (height / 2 - 2 * size) + size + (height / 2 if i else 0) if w >= 2 else np.full(frames, height * (0.27 + 0.46 * i))
            else:
                x = x / width * (width / 2 - 2 * size) + size + (width / 2 if i else 0) if w < 2 else np.full(frames, width * (0.27 + 0.46 * i))
            paths.append((x, y))
    for i, ((c, s, _), (x, y), r) in enumerate(zip(objects, paths, radii)):
        scene.put(i, s, COLORS[COLOR_NAMES[c]], x, y, r, depth=0.75 + 0.2 * i)
    moving = motion not in ("still", "grow", "shrink")
    x = paths[0][0]
    scene.hum[:, 0] = 0.22 if moving and speed == "quickly" else 0.12
    scene.hum[:, 1] = np.clip(x / width, 0, 1)
    scene.hum_pitch = HUM_PITCH[speed]
    scene.facts = {
        "family": "toy", "motion": motion, "speed": speed, "background": BACKGROUND_NAMES[backdrop],
        "objects": [{"color": COLOR_NAMES[c], "shape": SHAPES[s], "direction": DIRECTIONS[w]} for c, s, w in objects],
        "spin": "clockwise" if motion == "orbit" and spin > 0 else "counterclockwise",
    }
    return scene
