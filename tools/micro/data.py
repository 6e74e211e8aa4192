"""Training examples: pools of encoded scenes with their tokenised prompts, and batches drawn from them.

A pool holds scenes of one family, size and length. A batch holds one task mix of one pool; every sample decides for
itself which latent frames are clean, whether sound or actions are there, clean or noisy.
"""

import collections
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import torch

from networks import transformer as tf
from pool import make_scene
from tokenizer import Tokenizer
from world import captions as c
from world import render
from world.audio import sound_of

SHIFT, STILL_SHIFT = 5.0, 3.0  # of the sigmas drawn in training, most of the time: clips, pictures
TEXT_DROP = 0.1
SOUND_SHARE = 0.6  # of clips of toys that are trained with their sound
PACKED = True  # on a GPU attention leaves padding out instead of masking it
CHUNK = 96  # scenes made and encoded at once
# pool name -> (family, width, height, frames, scenes at full size)
POOLS = {
    "toy": ("toy", 320, 192, 25, 7000),
    "toy 256x256": ("toy", 256, 256, 25, 600),
    "toy 320x256": ("toy", 320, 256, 25, 400),
    "toy 256x320": ("toy", 256, 320, 25, 400),
    "toy 192x320": ("toy", 192, 320, 25, 400),
    "toy 9": ("toy", 320, 192, 9, 600),
    "toy 17": ("toy", 320, 192, 17, 600),
    "toy 33": ("toy", 320, 192, 33, 500),
    "image 320x192": ("toy", 320, 192, 1, 2000),
    "image 256x256": ("toy", 256, 256, 1, 1500),
    "image 320x256": ("toy", 320, 256, 1, 1000),
    "image 256x320": ("toy", 256, 320, 1, 1000),
    "image 192x320": ("toy", 192, 320, 1, 1000),
    "transfer": ("toy", 320, 192, 25, 800),
    "transfer drive": ("drive", 320, 192, 25, 120),
    "bridge": ("bridge", 320, 192, 25, 3000),
    "droid": ("droid", 320, 192, 25, 2000),
    "droid_joints": ("droid_joints", 320, 192, 25, 3000),
    "push": ("push", 320, 192, 25, 2600),
    "drive": ("drive", 320, 192, 25, 1000),
}
DOMAINS = {"av": 1, "pusht": 4, "bridge_orig_lerobot": 7, "droid_lerobot": 8}
_tokenizer = None


def texts_of(rng, scene, name):
    """Prompts of one scene by set; the text sets of a pool name. Each is (user text, system prompt)."""
    w, h, f, facts = scene.width, scene.height, scene.frames, scene.facts
    still = f == 1
    say = lambda: c.plain_caption(rng, facts, still)
    if name.startswith("transfer"):
        return {
            hint: [(c.transfer_prompt(say(), w, h, f, [hint]), c.SYSTEM_TRANSFER) for _ in range(2)] for hint in c.HINTS
        }
    plain = [(say(), None) for _ in range(6)]
    if facts["family"] == "toy":
        rich = [(c.json_caption(rng, scene, still), None) for _ in range(3)] + [(c.with_sentences(say(), w, h, f), None)]
        sets = {"plain": plain, "rich": rich}
        if not still:
            sets["v2v"] = [(say(), c.SYSTEM_VIDEO) for _ in range(3)]
        return sets
    view = "concat_view" if facts["domain"] == "droid_joints" else None
    pick = lambda: view or str(rng.choice(["ego_view", "ego_view", "ego_view", "third_person_view", "wrist_view"]))
    generic = "Recover the robot action trajectory from this clip."
    action = [(c.action_caption(text, w, h, f, view=pick()), None) for text in (say(), say(), say(), say())]
    action += [(c.action_caption(text, w, h, f, view=pick()), None) for text in (generic, generic)]
    return {"plain": plain[:4], "action": action}


def negatives_of(width, height, frames):
    """Texts of the unconditional branch by set; a few of them, drawn alike."""
    sentences = lambda negated: c.with_sentences("", width, height, frames, negated=negated)
    return {
        "plain": [("", None)], "rich": [("", None), (sentences(True), None)], "v2v": [("", c.SYSTEM_VIDEO)], "action": [("", None)],
        **{hint: [(sentences(False), c.SYSTEM_TRANSFER)] for hint in c.HINTS},
    }


def _encode_all(texts):
    return {name: [_tokenizer.encode(c.chat(*t)) for t in variants] for name, variants in texts.items()}


def _make(job):
    """Scenes and token ids of one chunk; runs in a worker."""
    global _tokenizer
    path, seed, name, count, split = job
    _tokenizer = _tokenizer or Tokenizer(path)
    family, width, height, frames, _ = POOLS[name]
    rng = np.random.default_rng(seed)
    scenes = [make_scene(rng, family, frames, width, height, split) for _ in range(count)]
    return scenes, [_encode_all(texts_of(rng, s, name)) for s in scenes]


@dataclass
class Pool:
    """Encoded scenes; latents raw (not normalised), float16."""

    name: str
    latent: torch.Tensor
    sound: torch.Tensor = None  # [n, Ns, C]
    controls: dict = field(default_factory=dict)  # hint -> [n, C, T, h, w]
    actions: torch.Tensor = None  # [n, Na, action_dim]
    action_dim: int = 0
    domain: int = 0
    text: dict = field(default_factory=dict)  # set -> ids [n, variants, L], lengths [n, variants]
    negative: dict = field(default_factory=dict)  # set -> ids [variants, L], lengths


def pad_ids(rows, device):
    """Nested lists of ids -> padded ids and lengths with the same leading shape."""
    flat = [r for row in rows for r in row]
    length = max(map(len, flat))
    ids = np.zeros((len(flat), length), np.int64)
    for i, r in enumerate(flat):
        ids[i, : len(r)] = r
    lead = (len(rows), len(rows[0]))
    lengths = np.array([len(r) for r in flat]).reshape(lead)
    return torch.from_numpy(ids.reshape(*lead, length)).to(device), torch.from_numpy(lengths).to(device)


class Feed:
    """Makes scenes on all cores in the background; `take` encodes the next finished chunk into the pools.

    The chunks come in turns over the pools, so that every pool has some scenes early.
    """

    def __init__(self, names, seed, fraction, tokenizer_path, workers=14, split="train"):
        self.tokenizer_path, self.pools = tokenizer_path, {}
        turns = []
        for name in names:
            count = max(4, int(POOLS[name][4] * fraction))
            for k, begin in enumerate(range(0, count, CHUNK)):
                job = (tokenizer_path, (seed, k, hash_name(name)), name, min(CHUNK, count - begin), split)
                turns.append((begin / count, name, job))
        turns.sort(key=lambda turn: turn[0])
        self.executor = ProcessPoolExecutor(workers) if workers > 1 else None
        self.waiting = collections.deque((name, self.executor.submit(_make, job) if self.executor else job) for _, name, job in turns)

    def ready(self):
        """Whether take would not wait."""
        return bool(self.waiting) and (self.executor is None or self.waiting[0][1].done())

    def take(self, vae, sound_net, action_dim, device):
        name, job = self.waiting.popleft()
        scenes, texts = job.result() if self.executor else _make(job)
        more = encode_pool(name, scenes, texts, self.tokenizer_path, vae, sound_net, action_dim, device)
        self.pools[name] = merge(self.pools[name], more) if name in self.pools else more
        if not self.waiting and self.executor:
            self.executor.shutdown(wait=False)


def hash_name(name):
    return sum(ord(ch) * 31**i for i, ch in enumerate(name)) % (1 << 31)


@torch.no_grad()
def encode_pool(name, scenes, texts, tokenizer_path, vae, sound_net, action_dim, device):
    family, width, height, frames, _ = POOLS[name]
    views = render.VIEWS if name.startswith("transfer") else ("rgb",)
    latents, sounds = {v: [] for v in views}, []
    chunk = 32 if frames > 1 else 256
    with torch.autocast(device, torch.bfloat16):
        for i in range(0, len(scenes), chunk):
            batch = render.collate(scenes[i : i + chunk], device)
            for view in views:
                pixels = quantise(render.render(batch, view))
                latents[view].append(vae.encode(pixels.contiguous(memory_format=torch.channels_last_3d)).half())
            if family == "toy" and frames > 1 and not name.startswith("transfer"):
                with torch.autocast(device, enabled=False):
                    sounds.append(sound_net.encode(sound_of(batch, frames)).transpose(1, 2).half())
    pool = Pool(name, torch.cat(latents["rgb"]))
    pool.controls = {v: torch.cat(latents[v]) for v in views if v != "rgb"}
    if sounds:
        pool.sound = torch.cat(sounds)
    if scenes[0].actions is not None:
        actions = np.stack([s.actions for s in scenes])
        pool.actions = torch.zeros(*actions.shape[:2], action_dim)
        pool.actions[..., : actions.shape[2]] = torch.from_numpy(actions)
        pool.actions = pool.actions.to(device)
        pool.action_dim, pool.domain = scenes[0].action_dim, DOMAINS[scenes[0].domain]
    for key in texts[0]:
        pool.text[key] = pad_ids([t[key] for t in texts], device)
    global _tokenizer
    _tokenizer = _tokenizer or Tokenizer(tokenizer_path)
    for key, ids in _encode_all(negatives_of(width, height, frames)).items():
        if key in pool.text:
            pool.negative[key] = tuple(t[0] for t in pad_ids([ids], device))
    return pool


def quantise(pixels):
    """Rounds to the 256 levels that the product's inputs have."""
    return ((pixels + 1) * 127.5).round() / 127.5 - 1


def merge(a, b):
    """One pool with the samples of both."""
    join = lambda x, y: None if x is None else torch.cat([x, y])
    text = {}
    for key, (ids, lengths) in a.text.items():
        ids2, lengths2 = b.text[key]
        width = max(ids.shape[2], ids2.shape[2])
        grow = lambda t: torch.nn.functional.pad(t, (0, width - t.shape[2]))
        text[key] = (torch.cat([grow(ids), grow(ids2)]), torch.cat([lengths, lengths2]))
    return Pool(
        a.name, join(a.latent, b.latent), join(a.sound, b.sound), {k: join(v, b.controls[k]) for k, v in a.controls.items()},
        join(a.actions, b.actions), a.action_dim, a.domain, text, a.negative,
    )


def draw_sigma(n, device, still=False):
    """Noise levels: uniform, shifted as the product's schedules are; 3 in 10 with less shift, for the fine detail."""
    u = torch.rand(n, device=device)
    usual, loose = (STILL_SHIFT, 1.0) if still else (SHIFT, 1.5)
    shift = torch.where(torch.rand(n, device=device) < 0.3, loose, usual)
    return (shift * u / (1 + (shift - 1) * u)).clamp(0.002, 1.0)


def pick_text(pool, key, index, drop, columns):
    """Ids [B, L] and lengths [B] of a random variant in `columns` of a text set; dropped ones get a negative."""
    ids, lengths = pool.text[key]
    device = ids.device
    variant = columns[torch.randint(len(columns), (len(index),), device=device)] if columns is not None else torch.randint(ids.shape[1], (len(index),), device=device)
    rows, counts = ids[index, variant], lengths[index, variant]
    empty, empty_counts = pool.negative[key]
    other = torch.randint(len(empty), (len(index),), device=device)
    width = max(rows.shape[1], empty.shape[1])
    rows = torch.nn.functional.pad(rows, (0, width - rows.shape[1]))
    filler = torch.nn.functional.pad(empty, (0, width - empty.shape[1]))[other]
    rows = torch.where(drop[:, None], filler, rows)
    return rows, torch.where(drop, empty_counts[other], counts)


def draw_batch(pool, size, mean, std, fixed_task=None):
    """One batch of a pool. Returns inputs of Transformer.denoise with `ids`, and the targets with their masks."""
    device = pool.latent.device
    index = torch.randint(len(pool.latent), (size,), device=device)
    uniform = torch.rand(size, device=device)
    drop = torch.rand(size, device=device) < TEXT_DROP
    latent = (pool.latent[index].float() - mean) / std
    t = latent.shape[2]
    clean = torch.zeros(size, t, device=device)
    parts = {"latent": latent, "clean": clean}
    if pool.name.startswith("transfer"):
        hint = c.HINTS[int(torch.randint(len(c.HINTS), (1,)))]
        parts["control"] = (pool.controls[hint][index].float() - mean) / std
        parts["has_control"] = uniform > 0.1
        ids, lengths = pick_text(pool, hint, index, drop, None)
    elif pool.actions is not None:
        # 0 text- or image-to-video, 1 policy, 2 forward dynamics, 3 inverse dynamics
        task = torch.bucketize(uniform, torch.tensor([0.12, 0.52, 0.82], device=device))
        clean[:, 0] = ((task > 0) | (torch.rand(size, device=device) < 0.5)).float()
        clean[task == 3] = 1
        parts |= {"action": pool.actions[index], "action_state": torch.tensor([0, 1, 2, 1], device=device)[task]}
        parts["domain"] = torch.full((size,), pool.domain, device=device)
        acting = pick_text(pool, "action", index, drop & (uniform < 0.2), torch.arange(4, device=device))
        loose = pick_text(pool, "action", index, torch.zeros_like(drop), None)
        plain = pick_text(pool, "plain", index, drop, None)
        width = max(x[0].shape[1] for x in (acting, loose, plain))
        grow = lambda x: torch.nn.functional.pad(x, (0, width - x.shape[1]))
        dynamics, free = task >= 2, task == 0
        ids = torch.where(free[:, None], grow(plain[0]), torch.where(dynamics[:, None], grow(loose[0]), grow(acting[0])))
        lengths = torch.where(free, plain[1], torch.where(dynamics, loose[1], acting[1]))
    else:
        key, dice = "plain", float(torch.rand(1))
        if t > 1 and dice < 0.14:
            key = "v2v"
            clean[:, :2] = 1
        else:
            key = "rich" if dice < 0.32 else "plain"
            if t > 1:
                clean[:, 0] = (uniform < 0.22).float()
        ids, lengths = pick_text(pool, key, index, drop, None)
        if pool.sound is not None:
            parts |= {"sound": pool.sound[index].float(), "has_sound": torch.rand(size, device=device) < SOUND_SHARE}
    return pack(parts, ids, lengths, draw_sigma(size, device, t == 1), pool.action_dim)


def pack(parts, ids, lengths, sigma, action_dim=0, noise=None):
    """Noises the parts at sigma [B] and lays them out as rows.

    parts: latent [B, C, T, h, w] and clean [B, T]; optional control with has_control; sound [B, Ns, C] with has_sound;
    action [B, Na, A] with action_state (0 absent, 1 noisy, 2 clean) and domain. noise: given noise by part, else drawn.
    """
    device, b = sigma.device, len(sigma)
    latent = parts["latent"]
    _, channels, t, h, w = latent.shape
    hp, wp = (h + 1) // 2, (w + 1) // 2
    per_frame = hp * wp
    draw = lambda key, x: torch.randn_like(x) if noise is None else noise[key]
    noised = lambda x, e: x + sigma.view(-1, *[1] * (x.ndim - 1)) * (e - x)
    offset = (lengths + 15000).float()
    grid = tf.vision_positions(t, hp, wp, 0.0).to(device)
    target = tf.to_tokens(latent)
    eps = tf.to_tokens(draw("vision", latent))
    noisy = (1 - parts["clean"]).repeat_interleave(per_frame, 1)
    rows = torch.where(noisy[..., None] > 0, noised(target, eps), target)
    batch, targets = {"t": (sigma * 1000).floor() * 0.001, "sigma": sigma, "grid": (t, hp, wp), "ids": ids}, {}
    valid, places, flags, vision = [], [], [], []
    if "control" in parts:
        vision.append(tf.to_tokens(parts["control"]))
        valid.append(parts["has_control"].float()[:, None].expand(-1, vision[0].shape[1]))
        places.append(grid)
        flags.append(torch.zeros(b, vision[0].shape[1], device=device))
    vision.append(rows)
    valid.append(torch.ones(b, rows.shape[1], device=device))
    places.append(grid)
    flags.append(noisy)
    batch["vision"] = torch.cat(vision, 1)
    targets["vision"] = (eps - target, noisy)
    if "sound" in parts:
        eps = draw("sound", parts["sound"])
        batch["sound"] = noised(parts["sound"], eps)
        on = parts["has_sound"].float()[:, None].expand(-1, batch["sound"].shape[1])
        valid.append(on)
        places.append(tf.sound_positions(on.shape[1], 0.0).to(device))
        flags.append(torch.ones_like(on))
        targets["sound"] = (eps - parts["sound"], on)
    if "action" in parts:
        eps = draw("action", parts["action"]).clone()
        eps[..., action_dim:] = 0
        state = parts["action_state"].view(-1, 1, 1)
        batch["action"] = torch.where(state == 2, parts["action"], noised(parts["action"], eps))
        count = batch["action"].shape[1]
        valid.append((state[..., 0] > 0).float().expand(-1, count))
        places.append(tf.action_positions(count, 0.0).to(device))
        flags.append((state[..., 0] == 1).float().expand(-1, count))
        targets["action"] = ((eps - parts["action"])[..., :action_dim], flags[-1])
        batch["domain"] = parts["domain"]
    positions = torch.cat(places, 1)[None].repeat(b, 1, 1)
    positions[:, 0] += offset[:, None]
    batch |= {"positions": positions, "noisy": torch.cat(flags, 1)}
    # pad the text so that all keys together are a multiple of 8: the attention kernel wants aligned rows
    rows_total = positions.shape[2]
    length = ids.shape[1] + -(ids.shape[1] + rows_total) % 8
    batch["ids"] = torch.nn.functional.pad(ids, (0, length - ids.shape[1]))
    seen = torch.cat([torch.arange(length, device=device)[None] < lengths[:, None], torch.cat(valid, 1) > 0], 1)
    if PACKED and device.type == "cuda":
        batch["packing"] = tf.packing_of(seen, rows_total)
    else:
        batch["bias"] = torch.where(seen, 0.0, float("-inf"))[:, None, None]
    return batch, targets
