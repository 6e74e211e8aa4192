"""What a scene is: primitives with a place and size in every frame, a backdrop, sound events, actions and facts."""

from dataclasses import dataclass, field

import numpy as np

FPS = 24
COLORS = {
    "red": (0.86, 0.16, 0.12),
    "green": (0.10, 0.65, 0.20),
    "blue": (0.13, 0.30, 0.85),
    "yellow": (0.95, 0.80, 0.10),
    "purple": (0.55, 0.20, 0.70),
    "orange": (0.95, 0.50, 0.10),
}
SHAPES = ("ball", "square", "triangle", "ring")
BACKGROUNDS = {
    "white": (0.95, 0.95, 0.95),
    "black": (0.06, 0.06, 0.08),
    "grey": (0.50, 0.50, 0.52),
    "sky": (0.60, 0.80, 0.95),
    "sand": (0.85, 0.75, 0.58),
}
COLOR_NAMES, BACKGROUND_NAMES = tuple(COLORS), tuple(BACKGROUNDS)
DIRECTIONS = ("right", "left", "up", "down")

# Kinds of primitive as the renderer knows them; the first four are SHAPES.
BALL, SQUARE, TRIANGLE, RING, BOX = range(5)
SLOTS = 8  # primitives of a scene, painted in order
TICKS = 6  # ticks of a scene at most
ACTION_WIDTH = 10
# Backdrop of the driving scenes, after the plain ones.
ROAD = len(BACKGROUND_NAMES)


def is_held_out(color, shape, direction):
    """Eleven of the 96 combinations of colour, shape and direction are kept for evaluation alone; indices into the tables above.

    Every pair of the three still occurs in training with at most one value of the third missing, so that no pair gives
    away what the third is not.
    """
    return (color + 2 * shape + direction) % 12 == 6


@dataclass
class Scene:
    """Arrays of one scene of `frames` frames on a `width` x `height` canvas. Lengths in pixels, angles in radians.

    kind [SLOTS] (-1: unused), color [SLOTS, 3], place [SLOTS, frames, 5] = x, y, half width, half height, angle;
    depth [SLOTS] in 0..1 (1 near); marker [SLOTS]: index of the segmentation colour; shaded [SLOTS];
    camera [frames, 3] = x, z, heading of the driver; ticks [TICKS, 3] = second, hertz, pan (hertz 0: unused);
    hum [frames, 2] = amplitude, pan, with `hum_pitch` in hertz; actions [frames - 1, ACTION_WIDTH] or None.
    """

    width: int
    height: int
    frames: int
    backdrop: int
    kind: np.ndarray = field(default=None)
    color: np.ndarray = field(default=None)
    place: np.ndarray = field(default=None)
    depth: np.ndarray = field(default=None)
    marker: np.ndarray = field(default=None)
    shaded: np.ndarray = field(default=None)
    camera: np.ndarray = field(default=None)
    ticks: np.ndarray = field(default=None)
    hum: np.ndarray = field(default=None)
    hum_pitch: float = 0.0
    actions: np.ndarray = None
    domain: str = "no_action"
    action_dim: int = 0
    facts: dict = field(default_factory=dict)

    def __post_init__(self):
        self.kind = np.full(SLOTS, -1)
        self.color = np.zeros((SLOTS, 3))
        self.place = np.zeros((SLOTS, self.frames, 5))
        self.place[..., 2:4] = 1
        self.depth, self.shaded = np.zeros(SLOTS), np.zeros(SLOTS)
        self.marker = np.zeros(SLOTS, dtype=int)
        self.camera, self.hum = np.zeros((self.frames, 3)), np.zeros((self.frames, 2))
        self.ticks = np.zeros((TICKS, 3))

    def put(self, slot, kind, color, x, y, half_width, half_height=None, angle=0.0, depth=0.7, marker=None, shaded=True):
        """Fills one slot; x, y, sizes and angle are numbers or arrays over frames."""
        self.kind[slot], self.color[slot], self.depth[slot], self.shaded[slot] = kind, color, depth, shaded
        self.marker[slot] = slot if marker is None else marker
        half_height = half_width if half_height is None else half_height
        for i, value in enumerate((x, y, half_width, half_height, angle)):
            self.place[slot, :, i] = value

    def tick(self, second, color, x):
        """Adds a tick at `second`, its pitch that of the colour, heard from x."""
        free = np.flatnonzero(self.ticks[:, 1] == 0)
        if len(free):
            self.ticks[free[0]] = second, TICK_PITCH[color], np.clip(x / self.width, 0, 1)


# Hertz of a tick by colour index. All pitches are multiples of 25 Hz, the latent rate: their phase is that of one
# clock, so the sound latents need to carry envelope and pitch alone.
TICK_PITCH = (250.0, 300.0, 350.0, 450.0, 500.0, 550.0)
HUM_PITCH = {"slowly": 100.0, "quickly": 200.0}
