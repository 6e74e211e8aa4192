"""What a scene sounds like: ticks and a hum, 48 kHz stereo, on the GPU."""

import torch

RATE = 48000
DECAY = 0.035  # seconds in which a tick falls to 1/e


def sound_of(batch, frames, fps=24):
    """Waveforms [B, 2, samples] of a collated batch.

    A tick is a sine at its pitch under a fast attack and an exponential decay; the hum has two harmonics and follows
    hum [frames, 2] = amplitude, pan. Phases run on one clock from the clip's start.
    """
    device = batch["ticks"].device
    samples = round(frames / fps * RATE)
    t = torch.arange(samples, device=device) / RATE
    clock = torch.arange(samples, device=device) % RATE / RATE
    at = (t * fps).clamp(max=frames - 1)
    low = at.floor().long()
    high = (low + 1).clamp(max=frames - 1)
    hum = batch["hum"][:, low] + (batch["hum"][:, high] - batch["hum"][:, low]) * (at - low).view(1, -1, 1)
    phase = 2 * torch.pi * batch["hum_pitch"][:, None] * clock
    voice = (torch.sin(phase) + 0.4 * torch.sin(2 * phase)) * hum[..., 0]
    wave = pan(voice, hum[..., 1])
    for k in range(batch["ticks"].shape[1]):
        second, pitch, place = (batch["ticks"][:, k, i, None] for i in range(3))
        age = t - second
        envelope = torch.where(age >= 0, torch.exp(-age / DECAY) * (age / 0.002).clamp(0, 1), torch.zeros_like(age))
        tick = 0.8 * envelope * torch.sin(2 * torch.pi * pitch * clock) * (pitch > 0)
        wave = wave + pan(tick, place.expand_as(tick))
    return wave


def pan(voice, place):
    """Constant-power panning, place 0 left .. 1 right; [B, N] -> [B, 2, N]."""
    angle = place * (torch.pi / 2)
    return torch.stack([voice * angle.cos(), voice * angle.sin()], 1)
