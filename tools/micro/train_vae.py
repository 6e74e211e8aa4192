"""Trains the video autoencoder: pictures, then nine-frame crops, then whole clips.

    python train_vae.py --out DIR --stages picture:150,crop:170,clip:160 [--resume vae.safetensors] [--decoder-only]

Writes DIR/vae.safetensors (an average of the weights, bfloat16), DIR/vae.json (figures) and DIR/vae.png (originals
above reconstructions). Seconds are per stage.
"""

import argparse
import itertools
import json
import math
import time
from pathlib import Path

import numpy as np
import torch

import configs
from networks import safetensors, vae
from picture import sheet
from pool import PICTURE_ODDS, draw_families, make_scenes
from world import render

CANVASES = ((320, 192), (320, 192), (320, 192), (256, 256), (192, 320), (320, 256))
# stage -> (batch, frames, crop or None for the canvas, first learning rate, rate of the average)
STAGES = {
    "picture": (224, 1, (96, 96), 2e-3, 0.01),
    "crop": (16, 9, (128, 128), 1.2e-3, 0.005),
    "focus": (16, 25, (128, 160), 8e-4, 0.005),
    "clip": (6, 25, None, 5e-4, 0.005),
}
CONTROL_SHARE = 6  # one of so many samples is a control map
LATENT_NOISE = 0.05
OBJECT_WEIGHT = 3.0  # what an object's pixels count more than the backdrop's, in the later stages


def make_pools(seed, device, count):
    """A collated pool of scenes per canvas; other canvases than 320x192 hold toys alone."""
    pools = {}
    for canvas in dict.fromkeys(CANVASES):
        rng = np.random.default_rng(seed)
        odds = PICTURE_ODDS if canvas == (320, 192) else {"toy": 1}
        n = count if canvas == (320, 192) else count // 6
        scenes = make_scenes(seed, draw_families(rng, n, odds), 25, *canvas)
        # scenes with and without actions share a pool; the pictures do not need them
        for scene in scenes:
            scene.actions = None
        pools[canvas] = render.collate(scenes, device)
    return pools


def draw_batch(pools, stage, generator):
    """Pixels [B, 3, F, h, w] of one training batch and the weight of each pixel [B, 1, F, h, w]."""
    batch, frames, crop, _, _ = STAGES[stage]
    canvas = CANVASES[0]
    if crop is None:
        canvas = CANVASES[int(torch.randint(len(CANVASES), (1,), generator=generator, device=generator.device))]
    pool = pools[canvas]
    device = generator.device
    uniform = lambda n: torch.rand(n, generator=generator, device=device)
    index = (uniform(batch) * len(pool["kind"])).long()
    first = (uniform(batch) * (25 - frames + 1)).long()
    part = render.select(pool, index, first[:, None] + torch.arange(frames, device=device))
    left = top = None
    if crop is not None:
        # the window holds the centre of one of the used slots
        used = (part["kind"] >= 0).float() + 1e-6
        slot = torch.multinomial(used, 1, generator=generator)[:, 0]
        centre = part["place"][torch.arange(batch, device=device), slot, frames // 2]
        left = (centre[:, 0] - crop[1] * uniform(batch)).clamp(0, canvas[0] - crop[1]).round()
        top = (centre[:, 1] - crop[0] * uniform(batch)).clamp(0, canvas[1] - crop[0]).round()
    cut = max(1, batch // CONTROL_SHARE)
    view = render.VIEWS[1 + int(uniform(1) * (len(render.VIEWS) - 1))]
    parts = []
    for rows, kind in ((slice(0, cut), view), (slice(cut, None), "rgb")):
        window = (left[rows], top[rows]) if crop is not None else (None, None)
        parts.append(render.render(render.select(part, rows), kind, crop, *window))
    inside = (render.render(part, "depth", crop, left, top)[:, :1] > -0.7).float()
    pixels = torch.cat(parts).contiguous(memory_format=torch.channels_last_3d)
    return pixels, 1 + (OBJECT_WEIGHT * inside if stage in ("focus", "clip") else 0 * inside)


def loss_of(net, pixels, weight):
    with torch.autocast("cuda", torch.bfloat16):
        mean = net.encode(pixels)
        out = net.decode(mean + LATENT_NOISE * torch.randn_like(mean))
    error = out.float() - pixels
    scale = (mean.float() ** 2).mean().clamp(min=1.0)
    return (weight * (error.abs() + 5 * error**2)).mean() + 1e-3 * scale, error


def choose_convolution(net, batch):
    """Times the two forms of the causal convolution, with and without cuDNN's search, and keeps the fastest."""
    found = {}
    for stacked, search in itertools.product((False, True), (False, True)):
        if batch[0].shape[2] == 1 and stacked:
            continue
        vae.STACK_FRAMES, torch.backends.cudnn.benchmark = stacked, search
        for i in range(4):
            if i == 2:
                torch.cuda.synchronize()
                start = time.time()
            loss_of(net, *batch)[0].backward()
        torch.cuda.synchronize()
        found[stacked, search] = (time.time() - start) / 2
    net.zero_grad(set_to_none=True)
    vae.STACK_FRAMES, torch.backends.cudnn.benchmark = min(found, key=found.get)
    print("convolution (stacked, search) -> seconds a step:", {k: round(v, 4) for k, v in found.items()}, flush=True)


def run_stage(net, average, pools, stage, seconds, generator, decoder_only):
    _, _, _, rate, blend = STAGES[stage]
    choose_convolution(net, draw_batch(pools, stage, generator))
    params = [p for n, p in net.named_parameters() if not decoder_only or n.startswith(("decoder", "post_quant"))]
    optimizer = torch.optim.AdamW(params, rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    start, step, total = time.time(), 0, 0.0
    while (elapsed := time.time() - start) < seconds:
        scale = min(1, step / 100) * (0.5 + 0.5 * math.cos(math.pi * elapsed / seconds)) + 0.005
        for group in optimizer.param_groups:
            group["lr"] = rate * scale
        loss, error = loss_of(net, *draw_batch(pools, stage, generator))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
        torch._foreach_lerp_(average, [p.data for p in net.parameters()], max(blend, 1 / (step + 1)) if step < 400 else blend)
        step += 1
        if step % 200 == 0:
            psnr = 10 * math.log10(4 / (error**2).mean().item())
            print(f"{stage} {step} loss {loss.item():.4f} psnr {psnr:.2f} {elapsed:.0f}s", flush=True)
    return step


@torch.no_grad()
def evaluate(net, device, out):
    """PSNR on whole held-out clips, all pixels and object pixels alone, by family; writes the picture."""
    figures, rows = {}, []
    for family, canvas in (("toy", (320, 192)), ("bridge", (320, 192)), ("droid", (320, 192)), ("push", (320, 192)), ("drive", (320, 192)), ("toy", (256, 256)), ("toy", (192, 320))):
        scenes = make_scenes(991, [family] * 24, 25, *canvas, split="test")
        for s in scenes:
            s.actions = None
        batch = render.collate(scenes, device)
        pixels = render.render(batch)
        with torch.autocast("cuda", torch.bfloat16):
            out_pixels = torch.cat([net.decode(net.encode(x)) for x in pixels.split(8)]).float().clamp(-1, 1)
        error = (out_pixels - pixels) ** 2
        mask = (render.render(batch, "depth").amax(1, keepdim=True) > -0.7).float()
        name = f"{family} {canvas[0]}x{canvas[1]}"
        figures[name] = {
            "psnr": 10 * math.log10(4 / error.mean().item()),
            "object_psnr": 10 * math.log10(4 / ((error * mask).sum() / (3 * mask.sum()).clamp(min=1)).item()),
        }
        if canvas == (320, 192):
            rows += [pixels[0], out_pixels[0], out_pixels[1]]
            if family == "toy":
                for view in render.VIEWS[1:]:
                    control = render.render(render.select(batch, slice(0, 2)), view)
                    with torch.autocast("cuda", torch.bfloat16):
                        again = net.decode(net.encode(control)).float().clamp(-1, 1)
                    figures[f"control {view}"] = {"psnr": 10 * math.log10(4 / ((again - control) ** 2).mean().item())}
                    rows.append(again[0])
    sheet(out / "vae.png", rows, (0, 1, 8, 24), 2)
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stages", required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--decoder-only", action="store_true")
    parser.add_argument("--pool", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    device = "cuda"
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    vae.norm_silu_forward = torch.compile(vae.norm_silu_forward, dynamic=True)
    vae.norm_silu_backward = torch.compile(vae.norm_silu_backward, dynamic=True)
    net = vae.Vae(configs.VAE).to(device)
    if args.resume:
        net.load_state_dict({k: v.float() for k, v in safetensors.load(args.resume).items()})
    for p in net.parameters():
        if p.ndim == 5:
            p.data = p.data.contiguous(memory_format=torch.channels_last_3d)
    print(f"vae parameters {sum(p.numel() for p in net.parameters())}, decode {vae.decode_flops(configs.VAE, 25, 192, 320) / 1e9:.0f} GFLOP", flush=True)
    start = time.time()
    pools = make_pools(args.seed, device, args.pool)
    print(f"scenes made in {time.time() - start:.0f}s", flush=True)
    average = [p.detach().clone() for p in net.parameters()]
    generator = torch.Generator(device).manual_seed(args.seed)
    figures = {"steps": {}, "held_out": {}}
    for entry in args.stages.split(","):
        stage, seconds = entry.split(":")
        figures["steps"][stage] = run_stage(net, average, pools, stage, float(seconds), generator, args.decoder_only)
        # each stage begins from the average of the one before
        for p, a in zip(net.parameters(), average):
            p.data.copy_(a)
        save(net, args.out)
    figures["held_out"] = evaluate(net, device, args.out)
    (args.out / "vae.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures), flush=True)


def save(net, out):
    safetensors.save({k: v.to(torch.bfloat16) for k, v in net.state_dict().items()}, out / "vae.safetensors")


if __name__ == "__main__":
    main()
