"""Measures what the networks make of held-out prompts, with plain vision code, and draws a contact sheet.

The measures here follow training; the project's own tests measure the product itself.
"""

import json
import math
import time

import numpy as np
import torch

import data
import sampler
from networks import transformer as tf
from picture import sheet
from pool import make_scenes
from tokenizer import Tokenizer
from world import captions as c
from world import render, robots, units
from world.scene import COLOR_NAMES, COLORS, SHAPES

STEPS, SHIFT = 16, 5.0
IMAGE_SHIFT = 3.0
SPLITS = {"train": "trained combinations", "test": "held-out combinations"}
BUDGET = 35.0  # seconds after which no further check begins


@torch.no_grad()
def generate(net, parts, prompts, negatives, tokenizer, guidance, action_dim=0, steps=STEPS, shift=SHIFT, seed=0):
    """Samples a batch. parts as data.pack takes them, with clean values where they are clean; returns them denoised."""
    device = parts["latent"].device
    generator = torch.Generator("cpu").manual_seed(seed)
    branches = [prompts] + ([negatives] if guidance > 1 else [])
    texts = [data.pad_ids([[tokenizer.encode(c.chat(*t))] for t in texts], device) for texts in branches]
    texts = [(ids[:, 0], lengths[:, 0]) for ids, lengths in texts]
    caches = [None] * len(texts)
    sigmas = sampler.native_sigmas(steps, shift)
    draw = lambda x: torch.randn(x.shape, generator=generator).to(device)
    clean = parts["clean"][:, None, :, None, None]
    state = {"vision": torch.where(clean > 0, parts["latent"], draw(parts["latent"]))}
    if "sound" in parts:
        state["sound"] = draw(parts["sound"])
    if "action" in parts:
        mine = (parts["action_state"] == 2).view(-1, 1, 1)
        noise = draw(parts["action"])
        noise[..., action_dim:] = 0
        state["action"] = torch.where(mine, parts["action"], noise)
    solvers = {key: sampler.UniPc(sigmas) for key in state}
    for i in range(steps):
        velocity = {}
        sigma = torch.full((len(prompts),), sampler.timestep(sigmas[i]) / 1000 + 1e-5, device=device)
        for branch, (ids, lengths) in enumerate(texts):
            now = {**parts, "latent": state["vision"]}
            now |= {k: state[k] for k in ("sound", "action") if k in state}
            # noise equal to the sample leaves the sample as it is
            batch, _ = data.pack(now, ids, lengths, sigma, action_dim, noise=state)
            with torch.autocast(device.type, torch.bfloat16):
                if caches[branch] is None:
                    caches[branch] = net.prefill(batch["ids"])
                out = net.denoise(batch, caches[branch])
            for key in state:
                v = out[key].float()
                if key == "vision":
                    rows = state[key].shape[2] * ((state[key].shape[3] + 1) // 2) * ((state[key].shape[4] + 1) // 2)
                    v = tf.to_latent(v[:, -rows:], *state[key].shape[1:]) * (1 - clean)
                if key == "action":
                    v = torch.where(mine, torch.zeros_like(v), v)
                    v[..., action_dim:] = 0
                velocity[key] = v if branch == 0 else v + guidance * (velocity[key] - v)
        state = {key: solvers[key].step(x, velocity[key]) for key, x in state.items()}
        state["vision"] = torch.where(clean > 0, parts["latent"], state["vision"])
    return state


class Bench:
    """The networks with what their latents need."""

    def __init__(self, net, vae, sound_net, mean, std, tokenizer):
        self.net, self.vae, self.sound_net, self.mean, self.std = net, vae, sound_net, mean, std
        self.tokenizer, self.device = tokenizer, mean.device

    @torch.no_grad()
    def encode(self, pixels):
        with torch.autocast(self.device.type, torch.bfloat16):
            latent = torch.cat([self.vae.encode(x.contiguous(memory_format=torch.channels_last_3d)) for x in data.quantise(pixels).split(16)])
        return (latent.float() - self.mean) / self.std

    @torch.no_grad()
    def decode(self, latent):
        raw = latent * self.std + self.mean
        with torch.autocast(self.device.type, torch.bfloat16):
            return torch.cat([self.vae.decode(x.contiguous(memory_format=torch.channels_last_3d)) for x in raw.split(16)]).float().clamp(-1, 1)

    def make(self, parts, prompts, guidance, system=None, negatives=None, **options):
        negatives = negatives or [("", system)] * len(prompts)
        return generate(self.net, parts, [(p, system) for p in prompts], negatives, self.tokenizer, guidance, **options)


def object_mask(clip):
    """Pixels [B, F, H, W] that differ from their row's usual colour: the objects of a toy scene."""
    usual = clip.median(-1, keepdim=True).values
    return ((clip - usual).abs().sum(1) > 0.5).float()


def centroid(mask):
    """Centres [B, F, 2] (x, y) and areas [B, F] of masks."""
    h, w = mask.shape[-2:]
    area = mask.sum((-2, -1))
    x = (mask.sum(-2) * torch.arange(w, device=mask.device)).sum(-1) / area.clamp(min=1)
    y = (mask.sum(-1) * torch.arange(h, device=mask.device)).sum(-1) / area.clamp(min=1)
    return torch.stack([x, y], -1), area


def classify(clip, frame):
    """Colour and shape index of the one object in a frame of each clip."""
    mask = object_mask(clip)
    centre, area = centroid(mask)
    table = torch.tensor(list(COLORS.values()), device=clip.device) * 2 - 1
    m, image = mask[:, frame], clip[:, :, frame]
    mean = ((image * m[:, None]).sum((2, 3)) / m.sum((1, 2))[:, None].clamp(min=1) + 1) / 2
    palette = (table + 1) / 2
    chroma = lambda v: v / v.sum(-1, keepdim=True).clamp(min=0.05)
    color = ((chroma(mean)[:, None] - chroma(palette)[None]) ** 2).sum(-1).argmin(1)
    h, w = m.shape[1:]
    yy, xx = torch.meshgrid(torch.arange(h, device=clip.device).float(), torch.arange(w, device=clip.device).float(), indexing="ij")
    scores = []
    for kind in range(4):
        # the radius at which this shape has the area found
        factor = (math.pi, 1.76**2, 1.87, math.pi * 0.75)[kind]
        r = (area[:, frame] / factor).sqrt().view(-1, 1, 1).clamp(min=1)
        x, y = xx - centre[:, frame, 0].view(-1, 1, 1), yy - centre[:, frame, 1].view(-1, 1, 1)
        sd = render.distance(torch.full_like(r, kind), x, y, r, r)
        inside = (sd < 0).float()
        scores.append((inside * m).sum((1, 2)) / torch.maximum(inside, m).sum((1, 2)).clamp(min=1))
    return color, torch.stack(scores, 1).argmax(1), centre, area


def want(scenes):
    first = [s.facts["objects"][0] for s in scenes]
    return np.array([COLOR_NAMES.index(o["color"]) for o in first]), np.array([SHAPES.index(o["shape"]) for o in first]), [o["direction"] for o in first]


def direction_of(centre):
    d = (centre[:, -1] - centre[:, 0]).cpu().numpy()
    return ["right" if abs(x) > abs(y) and x > 0 else "left" if abs(x) > abs(y) else "down" if y > 0 else "up" for x, y in d], np.abs(d).max(1)


def share(found, wanted):
    return round(float(np.mean(np.asarray(found) == np.asarray(wanted))), 3)


def toys(seed, count, motion="straight", width=320, height=192, frames=25, split="test"):
    return make_scenes(seed, ["toy"] * count, frames, width, height, split, None, [motion] * count, workers=1)


def true_shift(scenes, centre_from=0):
    return np.array([np.abs(s.place[0, -1, :2] - s.place[0, centre_from, :2]).max() for s in scenes])


def run(net, vae, sound_net, mean, std, args, count, prefix):
    """Writes PREFIX.json and PREFIX.png; prints the figures."""
    bench = Bench(net, vae, sound_net, mean, std, Tokenizer(args.tokenizer))
    rng, figures, rows = np.random.default_rng(5), {}, []
    latent = lambda n, t=7, h=12, w=20: torch.zeros(n, 16, t, h, w, device=bench.device)
    off = lambda n, t=7: torch.zeros(n, t, device=bench.device)
    checks = (text_to_video, text_to_image, image_to_video, robots_checks, video_to_video, transfer, more_motions)
    begin = time.time()
    for check in checks:
        if time.time() - begin > BUDGET:
            figures[check.__name__] = "not measured, no time left"
            continue
        try:
            check(bench, rng, figures, rows, count, latent, off)
        except Exception as error:  # a figure that cannot be measured must not cost the training run
            figures[check.__name__] = repr(error)
        print(f"{check.__name__} after {time.time() - begin:.0f}s", flush=True)
    (args.out / f"{prefix}.json").write_text(json.dumps(figures, indent=1))
    sheet(args.out / f"{prefix}.png", rows, (0, 4, 8, 12, 16, 20, 24), 2)
    print(prefix, json.dumps(figures), flush=True)


def text_to_video(bench, rng, figures, rows, count, latent, off):
    for split, guidance in (("train", 3.0), ("test", 3.0), ("test", 5.0)):
        scenes = toys(301, count, split=split)
        prompts = [c.plain_toy(rng, s.facts) for s in scenes]
        clip = bench.decode(bench.make({"latent": latent(count), "clean": off(count)}, prompts, guidance)["vision"])
        color, shape, centre, area = classify(clip, 12)
        colors, shapes, ways = want(scenes)
        way, shift = direction_of(centre)
        speed = np.abs(shift / true_shift(scenes) - 1)
        named = np.array(["slow" in p or "low" in p or "quick" in p or "fast" in p or "high" in p for p in prompts])
        figures[f"t2v g{guidance:g} {SPLITS[split]}"] = {
            "color": share(color.cpu(), colors), "shape": share(shape.cpu(), shapes), "direction": share(way, ways),
            "speed_error": round(float(np.median(speed[named])), 3) if named.any() else None, "found": round(float((area.amin(1) > 60).float().mean()), 3),
        }
        if guidance == 3.0:
            rows += list(clip[:5])


def text_to_image(bench, rng, figures, rows, count, latent, off):
    for split, guidance in (("train", 3.0), ("test", 3.0), ("test", 5.0)):
        scenes = toys(302, count, split=split)
        prompts = [c.plain_toy(rng, s.facts, still=True) for s in scenes]
        made = bench.make({"latent": latent(count, 1), "clean": off(count, 1)}, prompts, guidance, shift=IMAGE_SHIFT)
        clip = bench.decode(made["vision"])
        color, shape, _, _ = classify(clip, 0)
        colors, shapes, _ = want(scenes)
        figures[f"t2i g{guidance:g} {SPLITS[split]}"] = {"color": share(color.cpu(), colors), "shape": share(shape.cpu(), shapes)}
        rows.append(torch.cat(list(clip[:7]), 1))


def image_to_video(bench, rng, figures, rows, count, latent, off):
    scenes = toys(303, count)
    prompts = [c.plain_toy(rng, s.facts) for s in scenes]
    pixels = render.render(render.collate(scenes, bench.device))
    x = bench.encode(pixels)
    clean = off(count)
    clean[:, 0] = 1
    given = torch.where(clean[:, None, :, None, None] > 0, x, torch.zeros_like(x))
    clip = bench.decode(bench.make({"latent": given, "clean": clean}, prompts, 3.0)["vision"])
    colors, shapes, ways = want(scenes)
    color, shape, centre, _ = classify(clip, 24)
    figures["i2v"] = {
        "frame0_psnr": round(10 * math.log10(4 / ((clip[:, :, 0] - pixels[:, :, 0]) ** 2).mean().item()), 2),
        "color": share(color.cpu(), colors), "shape": share(shape.cpu(), shapes), "direction": share(direction_of(centre)[0], ways),
    }
    rows += list(clip[:2])


def video_to_video(bench, rng, figures, rows, count, latent, off):
    for motion in ("straight", "walls"):
        scenes = toys(304, count, motion)
        prompts = [c.plain_toy(rng, s.facts) for s in scenes]
        x = bench.encode(render.render(render.collate(scenes, bench.device)))
        clean = off(count)
        clean[:, :2] = 1
        given = torch.where(clean[:, None, :, None, None] > 0, x, torch.zeros_like(x))
        clip = bench.decode(bench.make({"latent": given, "clean": clean}, prompts, 3.0, system=c.SYSTEM_VIDEO)["vision"])
        centre = classify(clip, 24)[2].cpu().numpy()
        true = np.stack([s.place[0, :, :2] for s in scenes])
        if motion == "straight":
            error = np.abs(np.abs(centre[:, -1] - centre[:, 4]).max(1) / true_shift(scenes, 4) - 1)
            figures["v2v velocity error"] = {"mean": round(float(error.mean()), 3), "median": round(float(np.median(error)), 3)}
        else:
            gap = np.hypot(*(centre[:, -1] - true[:, -1]).T) / 320
            figures["v2v walls end error"] = {"median": round(float(np.median(gap)), 3), "within 5%": round(float((gap < 0.05).mean()), 3)}
        rows += list(clip[:1])


def transfer(bench, rng, figures, rows, count, latent, off):
    n = max(2, count // 3)
    scenes = make_scenes(305, ["toy"] * n, 25, split="test", workers=1)
    batch = render.collate(scenes, bench.device)
    truth = (render.render(batch, "depth").amax(1) > -0.7).float()
    for hint in c.HINTS:
        control = bench.encode(render.render(batch, hint))
        prompts = [c.transfer_prompt(c.plain_toy(rng, s.facts), 320, 192, 25, [hint]) for s in scenes]
        negatives = [(c.with_sentences("", 320, 192, 25), c.SYSTEM_TRANSFER)] * n
        parts = {"latent": latent(n), "clean": off(n), "control": control, "has_control": torch.ones(n, device=bench.device, dtype=torch.bool)}
        clip = bench.decode(bench.make(parts, prompts, 3.0, system=c.SYSTEM_TRANSFER, negatives=negatives)["vision"])
        mask = object_mask(clip)
        iou = (mask * truth).sum((1, 2, 3)) / torch.maximum(mask, truth).sum((1, 2, 3)).clamp(min=1)
        color = classify(clip, 12)[0]
        single = np.array([len(s.facts["objects"]) == 1 for s in scenes])
        figures[f"transfer {hint}"] = {"iou": round(iou.mean().item(), 3), "color": share(color.cpu()[single], want(scenes)[0][single])}
        rows += list(clip[:1])


def robots_checks(bench, rng, figures, rows, count, latent, off):
    for family, dim in (("bridge", 10), ("droid", 10), ("droid_joints", 8), ("push", 2), ("drive", 9)):
        scenes = make_scenes(306, [family] * count, 25, plan="task", workers=1)
        pixels = render.render(render.collate(scenes, bench.device))
        x = bench.encode(pixels)
        true = torch.zeros(count, 24, 16, device=bench.device)
        true[..., :10] = torch.from_numpy(np.stack([s.actions for s in scenes])).float().to(bench.device)
        domain = torch.full((count,), data.DOMAINS[scenes[0].domain], device=bench.device)
        view = "concat_view" if family == "droid_joints" else "ego_view"
        prompts = [c.action_caption(c.plain_robot(rng, s.facts), 320, 192, 25, view=view) for s in scenes]
        first = off(count)
        first[:, 0] = 1
        keep = lambda clean: torch.where(clean[:, None, :, None, None] > 0, x, torch.zeros_like(x))
        state = lambda v: torch.full((count,), v, device=bench.device)
        options = {"action_dim": dim}
        found = {}
        base = {"domain": domain}
        made = bench.make({**base, "latent": keep(first), "clean": first, "action": torch.zeros_like(true), "action_state": state(1)}, prompts, 1.0, **options)
        if family != "drive":
            done = [simulate(s, a) for s, a in zip(scenes, made["action"].cpu().numpy())]
            found["policy success"] = round(float(np.mean([d[0] for d in done])), 3)
            found["policy miss px"] = round(float(np.median([d[1] for d in done])), 1)
        rows.append(bench.decode(made["vision"][:1])[0])
        every = torch.ones_like(first)
        generic = [c.action_caption("Recover the robot action trajectory from this clip.", 320, 192, 25, view=view)] * count
        made = bench.make({**base, "latent": x, "clean": every, "action": torch.zeros_like(true), "action_state": state(1)}, generic, 1.0, **options)
        residual = ((made["action"] - true)[..., :dim] ** 2).mean((0, 1))
        spread = true[..., :dim].var((0, 1))
        found["inverse r2"] = [round(1 - (r / s).item(), 3) if s > 1e-5 else None for r, s in zip(residual, spread)]
        made = bench.make({**base, "latent": keep(first), "clean": first, "action": true, "action_state": state(2)}, prompts, 1.0, **options)
        clip = bench.decode(made["vision"])
        if family != "drive":
            gaps = [end_error(s, clip[i, :, -1], pixels[i, :, -1]) for i, s in enumerate(scenes)]
            found["forward end error"] = round(float(np.mean(gaps)), 4)
        found["forward psnr"] = round(10 * math.log10(4 / ((clip - pixels) ** 2).mean().item()), 2)
        rows.append(clip[0])
        figures[family] = found


def simulate(scene, actions):
    """Plays predicted actions in the world: (did the named object reach the target, distance in px)."""
    facts = scene.facts
    actions = units.scaled(actions, facts["domain"], 1 / units.LARGER)
    if facts["family"] == "push":
        path = np.vstack([facts["tip"][:1], (actions[:, :2] + 1) * (scene.width / 2, scene.height / 2)])
        end = robots.simulate_push(path, facts["start"], facts["contact"])[-1]
        miss = np.hypot(*(end - facts["goal"]))
        return miss < 24, miss
    if facts["domain"] == "droid_joints":
        x, y = robots.tip_of(actions[:, 0], actions[:, 1], (scene.width / 2, scene.height + 8.0))
        tip = np.vstack([facts["tip"][:1], np.stack([x, y], 1)])
        grip = np.concatenate([[1], actions[:, 7]])
    else:
        tip = np.vstack([facts["tip"][:1], facts["tip"][:1] + np.cumsum(actions[:, :2], 0) * robots.STEP])
        grip = np.concatenate([[1], actions[:, 9]])
    end = robots.simulate_arm(tip, grip, facts["start"])[facts["thing"], -1]
    miss = np.hypot(*(end - facts["goal"]))
    return miss < 21, miss


def end_error(scene, image, truth):
    """Distance of the named object's colour centroid between two frames, as a fraction of the width."""
    target = torch.tensor(COLORS[scene.facts["object"].split()[0]], device=image.device).view(3, 1, 1)
    centres = []
    for picture in (image, truth):
        near = (((picture + 1) / 2 - target).abs().sum(0) < 0.35).float()
        centres.append(centroid(near[None, None])[0][0, 0] if near.sum() > 4 else torch.tensor([0.0, 0.0], device=image.device))
    return float((centres[0] - centres[1]).norm()) / scene.width


def more_motions(bench, rng, figures, rows, count, latent, off):
    n = max(2, count // 8)
    for motion in ("bounce", "orbit", "grow", "collide", "pair"):
        scenes = toys(307, n, motion)
        prompts = [c.plain_toy(rng, s.facts) for s in scenes]
        parts = {"latent": latent(n), "clean": off(n), "sound": torch.zeros(n, 27, 16, device=bench.device), "has_sound": torch.ones(n, device=bench.device, dtype=torch.bool)}
        made = bench.make(parts, prompts, 3.0)
        rows.append(bench.decode(made["vision"][:1])[0])
    scenes = make_scenes(308, ["bridge", "drive"], 25, plan="task", workers=1)
    prompts = [c.plain_robot(rng, s.facts) for s in scenes]
    rows += list(bench.decode(bench.make({"latent": latent(2), "clean": off(2)}, prompts, 3.0)["vision"]))
    for w, h, t in ((16, 16, 7), (12, 20, 7), (20, 16, 7), (20, 12, 9)):
        made = bench.make({"latent": latent(1, t, h, w), "clean": off(1, t)}, ["A red ball rolls to the right on a white background"], 3.0)
        rows.append(bench.decode(made["vision"])[0])
