"""Trains the sound tokenizer on what the toy world sounds like.

    python train_sound.py --out DIR --seconds 240 [--resume sound.safetensors]

Writes DIR/sound.safetensors (averaged, bfloat16) and DIR/sound.json (figures).
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

CROP = 16  # latents of a training crop
BATCH = 64
NOISE = 0.1


def make_waves(seed, count, device, split="any"):
    """Whole-clip waveforms [n, 2, 50000], peak 0.95; half the scenes tick."""
    rng = np.random.default_rng(seed)
    families = [str(f) for f in rng.choice(["toy", "drive"], count, p=[0.9, 0.1])]
    motions = [str(m) for m in rng.choice(["bounce", "walls", "collide", "straight", "orbit"], count, p=[0.3, 0.3, 0.15, 0.2, 0.05])]
    scenes = make_scenes(seed, families, 25, split=split, motions=motions)
    for scene in scenes:
        scene.actions = None
    waves = [sound_of(render.collate(scenes[i : i + 256], device), 25) for i in range(0, count, 256)]
    waves = torch.cat(waves)
    return waves / waves.abs().amax((1, 2), keepdim=True).clamp_min(1e-5) * 0.95


def spectral_loss(a, b):
    total = 0.0
    for n in (256, 1024, 4096):
        window = torch.hann_window(n, device=a.device)
        spec = [torch.stft(x.flatten(0, 1), n, n // 4, n, window, return_complex=True).abs() for x in (a, b)]
        total = total + (spec[0] - spec[1]).abs().mean() / spec[1].mean().clamp_min(1e-4)
    return total / 3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--resume", type=Path)
    args = parser.parse_args()
    device = "cuda"
    torch.manual_seed(3)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    sound.Snake.forward = torch.compile(sound.Snake.forward, dynamic=True)
    net = sound.SoundTokenizer(configs.SOUND).to(device)
    if args.resume:
        net.load_state_dict({k: v.float() for k, v in safetensors.load(args.resume).items()})
    waves = make_waves(5, 4096, device)
    hop, rate = net.hop, 2e-3
    optimizer = torch.optim.AdamW(net.parameters(), rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    average = [p.detach().clone() for p in net.parameters()]
    start, step = time.time(), 0
    while (elapsed := time.time() - start) < args.seconds:
        scale = min(1, step / 100) * (0.5 + 0.5 * math.cos(math.pi * elapsed / args.seconds)) + 0.005
        for group in optimizer.param_groups:
            group["lr"] = rate * scale
        index = torch.randint(len(waves), (BATCH,), device=device)
        # crops start on a latent: the world's pitches keep one phase there
        first = torch.randint(waves.shape[-1] // hop - CROP + 1, (BATCH,), device=device) * hop
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
        if step % 200 == 0:
            snr = 10 * math.log10((wave**2).mean().item() / (error**2).mean().item())
            print(f"sound {step} loss {loss.item():.4f} snr {snr:.1f} std {std.mean().item():.2f} {elapsed:.0f}s", flush=True)
    for p, a in zip(net.parameters(), average):
        p.data.copy_(a)
    safetensors.save({k: v.to(torch.bfloat16) for k, v in net.state_dict().items()}, args.out / "sound.safetensors")
    with torch.no_grad():
        wave = make_waves(997, 256, device, "test")
        latent = net.encode(wave)
        out = net.decode(latent)[..., : wave.shape[-1]].clamp(-1, 1)
        figures = {
            "steps": step,
            "snr": 10 * math.log10((wave**2).mean().item() / ((out - wave) ** 2).mean().item()),
            "latent_mean": latent.mean((0, 2)).tolist(),
            "latent_std": latent.std((0, 2)).tolist(),
        }
    (args.out / "sound.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
