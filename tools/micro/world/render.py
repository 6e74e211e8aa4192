"""Pictures of scenes on the GPU: colour frames and the five control maps, batched, any window of the canvas."""

import numpy as np
import torch
import torch.nn.functional as F

from world.robots import EYE, FOCAL, HORIZON
from world.scene import BACKGROUNDS, BOX, ROAD, SLOTS

VIEWS = ("rgb", "edge", "blur", "depth", "seg", "wsm")
MARKERS = ((0.9, 0.1, 0.3), (0.1, 0.7, 0.9), (0.9, 0.8, 0.2), (0.3, 0.9, 0.3), (0.6, 0.3, 0.9), (0.9, 0.5, 0.1), (0.2, 0.3, 0.9), (0.9, 0.4, 0.8))
BACKDROP_SEG = (0.12, 0.12, 0.16)
DEPTH_FAR = 0.12
BLUR = 10  # pixels averaged by the blur control


def collate(scenes, device="cpu"):
    """Stacks the arrays of scenes of one size and length into tensors."""
    pick = lambda name, dtype: torch.from_numpy(np.stack([getattr(s, name) for s in scenes])).to(device, dtype)
    batch = {
        "kind": pick("kind", torch.int8), "color": pick("color", torch.float32), "place": pick("place", torch.float32),
        "depth": pick("depth", torch.float32), "shaded": pick("shaded", torch.float32), "marker": pick("marker", torch.int64),
        "camera": pick("camera", torch.float32), "ticks": pick("ticks", torch.float32), "hum": pick("hum", torch.float32),
        "hum_pitch": torch.tensor([s.hum_pitch for s in scenes], dtype=torch.float32, device=device),
        "backdrop": torch.tensor([s.backdrop for s in scenes], device=device),
        "size": torch.tensor([[s.width, s.height] for s in scenes], dtype=torch.float32, device=device),
    }
    if scenes[0].actions is not None:
        batch["actions"] = pick("actions", torch.float32)
    return batch


def select(batch, index, frames=None):
    """Rows `index` of a collated batch; `frames` [B, n] picks frames of the pictured arrays."""
    out = {name: value[index] for name, value in batch.items()}
    if frames is not None:
        rows = torch.arange(len(frames), device=frames.device)[:, None]
        out["place"] = out["place"].transpose(1, 2)[rows, frames].transpose(1, 2)
        out["camera"] = out["camera"][rows, frames]
    return out


def distance(kind, x, y, half_width, half_height):
    """Signed distance in pixels to the outline of a primitive, negative inside."""
    ball = torch.hypot(x, y) - half_width
    square = torch.maximum(x.abs(), y.abs()) - half_width * 0.88
    triangle = torch.maximum(x.abs() * 0.866 + y * 0.5, -y) - half_width * 0.6
    ring = (torch.hypot(x, y) - half_width * 0.75).abs() - half_width * 0.25
    box = torch.maximum(x.abs() - half_width, y.abs() - half_height)
    return torch.where(kind == 0, ball, torch.where(kind == 1, square, torch.where(kind == 2, triangle, torch.where(kind == 3, ring, box))))


def backdrop(batch, xx, yy):
    """Colour of the empty scene [B, 3, F, h, w]; plain colours fall off a little downwards, roads are in perspective."""
    device = xx.device
    table = torch.tensor([*BACKGROUNDS.values(), (0, 0, 0)], device=device)
    width, height = batch["size"][:, 0].view(-1, 1, 1, 1), batch["size"][:, 1].view(-1, 1, 1, 1)
    plain = table[batch["backdrop"]].view(-1, 3, 1, 1, 1) * (1 - 0.25 * yy / height)[:, None]
    is_road = (batch["backdrop"] == ROAD).view(-1, 1, 1, 1, 1)
    if not bool(is_road.any()):
        return plain.expand(-1, -1, batch["camera"].shape[1], -1, -1)
    camera = batch["camera"][..., None, None]  # [B, F, 3, 1, 1]
    below = (yy - HORIZON * height).clamp_min(0.5)  # [B, 1, h, w]
    ahead = EYE * FOCAL * width / below
    right = (xx - width / 2) / (FOCAL * width) * ahead
    sin, cos = camera[:, :, 2].sin(), camera[:, :, 2].cos()
    wx = camera[:, :, 0] + right * cos + ahead * sin
    wz = camera[:, :, 1] - right * sin + ahead * cos
    blur = (ahead / (FOCAL * width)).clamp_min(0.02)  # metres of one pixel across
    blur_z = (blur * ahead / EYE).clamp_min(0.05)
    cover = lambda d, b: (0.5 - d / b).clamp(0, 1)
    road = cover(wx.abs() - 4.0, blur)
    line = cover(wx.abs() - 0.18, blur) * cover((torch.remainder(wz, 8.0) - 4.0).abs() - 2.0, blur_z)
    edge = cover((wx.abs() - 3.7).abs() - 0.12, blur)
    fade = (1 - ahead / 45).clamp(0, 1)
    tiles = 0.5 + 0.5 * torch.sign(torch.sin(wx * 0.45) * torch.sin(wz * 0.45)) * fade
    mark = torch.maximum(line, edge) * fade
    mix = lambda a, b, t: a + (b - a) * t[:, None]
    rgb = lambda *c: torch.tensor(c, device=device).view(1, 3, 1, 1, 1)
    ground = mix(rgb(0.22, 0.5, 0.2), rgb(0.28, 0.58, 0.25), tiles)
    ground = mix(mix(ground, rgb(0.34, 0.34, 0.36), road), rgb(0.93, 0.93, 0.88), mark)
    sky = rgb(0.6, 0.8, 0.95) * (1 - 0.2 * yy / height)[:, None]
    view = mix(sky, ground, cover(HORIZON * height - yy, torch.ones_like(yy)).expand_as(road))
    return torch.where(is_road, view, plain)


def render(batch, view="rgb", window=None, left=None, top=None):
    """Frames [B, 3, F, h, w] in [-1, 1].

    view: one of VIEWS. window: (h, w) of a crop whose corner per scene is left, top [B]; the whole canvas when None.
    """
    device = batch["place"].device
    h, w = window or (int(batch["size"][0, 1]), int(batch["size"][0, 0]))
    b = len(batch["kind"])
    zero = torch.zeros(b, device=device)
    xx = torch.arange(w, device=device).float().view(1, 1, 1, w) + (zero if left is None else left).view(b, 1, 1, 1)
    yy = torch.arange(h, device=device).float().view(1, 1, h, 1) + (zero if top is None else top).view(b, 1, 1, 1)
    xx, yy = xx.expand(b, 1, h, w), yy.expand(b, 1, h, w)
    frames = batch["place"].shape[2]
    if view == "blur":
        sharp = render(batch, "rgb", window, left, top).transpose(1, 2).flatten(0, 1)
        small = F.interpolate(sharp, (max(h // BLUR, 1), max(w // BLUR, 1)), mode="area")
        smooth = F.interpolate(small, (h, w), mode="bicubic", align_corners=False).clamp(-1, 1)
        return smooth.view(b, frames, 3, h, w).transpose(1, 2)
    markers = torch.tensor(MARKERS, device=device)
    flat = lambda *c: torch.tensor(c, device=device).view(1, 3, 1, 1, 1).expand(b, 3, frames, h, w)
    if view == "rgb":
        image = backdrop(batch, xx, yy)
    elif view == "depth":
        image = flat(*(DEPTH_FAR,) * 3)
    elif view == "seg":
        image = flat(*BACKDROP_SEG)
    else:
        image = flat(0.0, 0.0, 0.0)
    if view == "wsm":
        image = scenario_lines(batch, image, xx, yy)
    used = (batch["kind"] >= 0).any(0).tolist()
    for slot in range(SLOTS):
        if not used[slot]:
            continue
        place = batch["place"][:, slot, :, :, None, None]  # [B, F, 5, 1, 1]
        kind = batch["kind"][:, slot].view(b, 1, 1, 1)
        dx, dy = xx - place[:, :, 0], yy - place[:, :, 1]
        if view == "wsm":
            half_h = torch.where(kind == BOX, place[:, :, 3], place[:, :, 2])
            sd = torch.maximum(dx.abs() - place[:, :, 2], dy.abs() - half_h)
        else:
            sin, cos = place[:, :, 4].sin(), place[:, :, 4].cos()
            sd = distance(kind, dx * cos + dy * sin, dy * cos - dx * sin, place[:, :, 2], place[:, :, 3])
        sd = torch.where(kind < 0, torch.full_like(sd, 99.0), sd)[:, None]
        if view == "rgb":
            shade = 1.05 - 0.25 * ((dy / place[:, :, 2]).clamp(-1, 1) * 0.5 + 0.5)
            shade = torch.where(batch["shaded"][:, slot].view(b, 1, 1, 1) > 0, shade, torch.ones_like(shade))[:, None]
            paint = batch["color"][:, slot].view(b, 3, 1, 1, 1) * shade
            alpha = (0.5 - sd).clamp(0, 1)
        elif view == "edge":
            paint, alpha = (sd > -1.0).float(), (sd < 0.5).float()
        elif view == "depth":
            paint, alpha = batch["depth"][:, slot].view(b, 1, 1, 1, 1), (sd < 0).float()
        else:
            paint, alpha = markers[batch["marker"][:, slot]].view(b, 3, 1, 1, 1), (sd < 0).float()
            if view == "wsm":
                paint = torch.where(sd > -2.0, torch.ones_like(paint), paint * 0.6)
        image = image * (1 - alpha) + paint * alpha
    return image.clamp(0, 1) * 2 - 1


def scenario_lines(batch, image, xx, yy):
    """The lanes of the wsm view: the road's borders as lines on black; nothing for scenes without a road."""
    if not bool((batch["backdrop"] == ROAD).any()):
        return image
    bright = backdrop(batch, xx, yy).amin(1, keepdim=True)  # only the painted marks of the ground are near white
    below = (yy > HORIZON * batch["size"][:, 1].view(-1, 1, 1, 1)).float()[:, None]
    road = (batch["backdrop"] == ROAD).view(-1, 1, 1, 1, 1).float()
    color = torch.tensor((0.2, 0.9, 0.9), device=xx.device).view(1, 3, 1, 1, 1)
    return image + road * below * ((bright - 0.45) * 2.2).clamp(0, 1) * color
