"""Trains the sound tokenizer on what the toy world sounds like.

    python train_sound.py --out DIR --seconds 240 [--resume sound.safetensors]

Writes DIR/sound.safetensors (averaged, bfloat16) and DIR/sound.json (figures; `ticks` tells of each pitch how much of it is left).
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import configs
from networks import safetensors, sound
from pool import make_scenes
from world import render
from world.audio import sound_of
from world.scene import TICK_PITCH, TICKS

CROP = 16  # latents of a training crop
BATCH = 64
NOISE = 0.1
DRILL = 0.5  # share of waves with ticks one after another
LOG_SHARE = 0.5  # weight of the logarithms' distance


def make_waves(seed, count, device, split="any", drill=0.0, workers=12):
    """Whole-clip waveforms [n, 2, 50000], peak 0.95; half the scenes tick. Every pitch is as frequent as the others.

    drill: share of waves in which ticks of chance pitch, place and time follow each other, over a hum or none. A scene ticks once or
    twice for a twentieth of its length: from scenes alone the tokenizer learns the hum and leaves the higher ticks out.
    """
    rng = np.random.default_rng(seed)
    families = [str(f) for f in rng.choice(["toy", "drive"], count, p=[0.9, 0.1])]
    motions = [str(m) for m in rng.choice(["bounce", "walls", "collide", "straight", "orbit"], count, p=[0.3, 0.3, 0.15, 0.2, 0.05])]
    scenes = make_scenes(seed, families, 25, split=split, motions=motions, workers=workers)
    for scene in scenes:
        scene.actions = None
        if rng.random() < drill:
            scene.ticks[:] = np.stack([rng.uniform(0, 0.98, TICKS), rng.choice(TICK_PITCH, TICKS), rng.random(TICKS)], 1)
            scene.hum[:, 0] *= rng.random() < 0.5
    waves = [sound_of(render.collate(scenes[i : i + 256], device), 25) for i in range(0, count, 256)]
    waves = torch.cat(waves)
    return waves / waves.abs().amax((1, 2), keepdim=True).clamp_min(1e-5) * 0.95


def spectral_loss(a, b):
    """Distance of magnitudes and of their logarithms at three resolutions: a faint or rare pitch counts like a loud one."""
    total = 0.0
    for n in (256, 1024, 4096):
        window = torch.hann_window(n, device=a.device)
        spec = [torch.stft(x.flatten(0, 1), n, n // 4, n, window, return_complex=True).abs() for x in (a, b)]
        total = total + (spec[0] - spec[1]).abs().mean() / spec[1].mean().clamp_min(1e-4)
        floor = 0.003 * n  # of a full tick's peak, about 0.1 n
        total = total + LOG_SHARE * ((spec[0] + floor).log() - (spec[1] + floor).log()).abs().mean()
    return total / 3


def tick_strength(wave, second, hertz, rate=48000, length=2400):
    """Strength [B] of a pitch in the 50 ms behind a time: of both channels of wave [B, 2, N]."""
    begin = int(second * rate)
    t = torch.arange(begin, begin + length, device=wave.device) / rate
    window = torch.hann_window(length, device=wave.device)
    turn = torch.polar(window, 2 * math.pi * hertz * t)
    return (wave[..., begin : begin + length] * turn).sum(-1).abs().square().sum(-1).sqrt() / length


@torch.no_grad()
def ticks_left(net, device):
    """{hertz: share of a lone tick's strength that is left after encoding and decoding}, over a hum."""
    scene = make_scenes(7, ["toy"], 25, motions=["straight"], workers=1)[0]
    scene.hum[:, 0] *= 0.5
    found = {}
    for hertz in TICK_PITCH:
        scene.ticks[0] = 0.4, hertz, 0.5
        wave = sound_of(render.collate([scene], device), 25)
        wave = wave / wave.abs().amax() * 0.95
        before, after = (tick_strength(w, 0.4, hertz) for w in (wave, net.decode(net.encode(wave))))
        found[f"{hertz:.0f}"] = round((after / before).item(), 3)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", type=int, default=0, help="divides batch and scenes, to try the program out")
    args = parser.parse_args()
    device, small = args.device, args.small or 1
    torch.manual_seed(3)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    if small == 1:
        sound.Snake.forward = torch.compile(sound.Snake.forward, dynamic=True)
    net = sound.SoundTokenizer(configs.SOUND).to(device)
    if args.resume:
        net.load_state_dict({k: v.float() for k, v in safetensors.load(args.resume).items()})
    waves = make_waves(5, 4096 // small, device, drill=DRILL, workers=12 if small == 1 else 1)
    hop, rate = net.hop, 2e-3
    optimizer = torch.optim.AdamW(net.parameters(), rate, betas=(0.9, 0.95), weight_decay=0.0, fused=device != "cpu")
    average = [p.detach().clone() for p in net.parameters()]
    start, step = time.time(), 0
    while (elapsed := time.time() - start) < args.seconds:
        scale = min(1, step / 100) * (0.5 + 0.5 * math.cos(math.pi * elapsed / args.seconds)) + 0.005
        for group in optimizer.param_groups:
            group["lr"] = rate * scale
        count = max(4, BATCH // small)
        index = torch.randint(len(waves), (count,), device=device)
        # crops start on a latent: the world's pitches keep one phase there
        first = torch.randint(waves.shape[-1] // hop - CROP + 1, (count,), device=device) * hop
        at = first[:, None] + torch.arange(CROP * hop, device=device)
        wave = waves[index].gather(2, at[:, None].expand(-1, 2, -1))
        latent = net.encode(wave, normalise=False)
        out = net.decode(latent + NOISE * torch.randn_like(latent))
        mean, std = latent.mean((0, 2)), latent.std((0, 2))
        error = out - wave
        loss = 4 * error.abs().mean() + 20 * (error**2).mean() + 0.3 * spectral_loss(out, wave) + 0.05 * ((mean**2).mean() + ((std - 1) ** 2).mean())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        step += 1
        torch._foreach_lerp_(average, [p.data for p in net.parameters()], max(0.005, 1 / step) if step < 400 else 0.005)
        if step % (200 if small == 1 else 5) == 0:
            snr = 10 * math.log10((wave**2).mean().item() / (error**2).mean().item())
            print(f"sound {step} loss {loss.item():.4f} snr {snr:.1f} std {std.mean().item():.2f} {elapsed:.0f}s", flush=True)
        if step % 1000 == 0:
            print("ticks left", ticks_left(net, device), flush=True)
    for p, a in zip(net.parameters(), average):
        p.data.copy_(a)
    safetensors.save({k: v.to(torch.bfloat16) for k, v in net.state_dict().items()}, args.out / "sound.safetensors")
    with torch.no_grad():
        wave = make_waves(997, 256 // small, device, "test", workers=12 if small == 1 else 1)
        latent = net.encode(wave)
        out = net.decode(latent)[..., : wave.shape[-1]].clamp(-1, 1)
        figures = {
            "steps": step,
            "snr": 10 * math.log10((wave**2).mean().item() / ((out - wave) ** 2).mean().item()),
            "ticks": ticks_left(net, device),
            "latent_mean": latent.mean((0, 2)).tolist(),
            "latent_std": latent.std((0, 2)).tolist(),
        }
    (args.out / "sound.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
