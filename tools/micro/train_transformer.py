"""Trains the transformer on every task at once, over latents of the finished autoencoders.

    python train_transformer.py --parts DIR --tokenizer tokenizer.json --out DIR --seconds 780 [--resume transformer.safetensors]

--parts holds vae.safetensors and sound.safetensors. Writes transformer.safetensors (averaged, bfloat16), latents.json
(mean and deviation of the latent channels) and log lines; at the end the figures of evaluate.py.
"""

import argparse
import json
import time
from pathlib import Path

import torch

import configs
import data
import evaluate
import optimiser
from networks import safetensors, sound, transformer, vae

AVERAGE = 0.998
WARM = 200  # steps in which the rate rises
PAUSE = 6.0  # seconds without a step after which the clock stands still
# Two batches a step: one of toys (or pictures), one of robots or transfer. pool -> odds, samples
TOYS = {
    "toy": (0.56, 450), "toy 256x256": (0.05, 400), "toy 320x256": (0.03, 312), "toy 256x320": (0.03, 312), "toy 192x320": (0.03, 400),
    "toy 9": (0.03, 720), "toy 17": (0.03, 540), "toy 33": (0.04, 312), "image 320x192": (0.07, 1152), "image 256x256": (0.04, 1152),
    "image 320x256": (0.03, 1152), "image 256x320": (0.03, 1152), "image 192x320": (0.03, 1152),
}
OTHERS = {
    "bridge": (0.13, 228), "droid": (0.14, 228), "droid_joints": (0.24, 228), "push": (0.17, 228), "drive": (0.14, 228),
    "transfer": (0.15, 144), "transfer drive": (0.03, 144),
}
WEIGHT = {"vision": 1.0, "sound": 1.5, "action": 2.0}
FOCUS = 3.0  # what a row that shows an object counts more than one of the ground
STANDS_OUT = 0.6  # mean distance from the ground, in deviations of the latents, at which a row counts in full


def load_parts(folder, device):
    """The frozen autoencoders."""
    nets = []
    for kind, config, name in ((vae.Vae, configs.VAE, "vae"), (sound.SoundTokenizer, configs.SOUND, "sound")):
        net = kind(config)
        net.load_state_dict({k: v.float() for k, v in safetensors.load(Path(folder) / f"{name}.safetensors").items()})
        nets.append(net.to(device).eval().requires_grad_(False))
    return nets


def focus_of(rows, velocity, sigma, grid):
    """Weights [B, N] of vision rows, 1 .. 1 + FOCUS: how far what the network takes each row for is from its line's ground.

    The ground is the median of three places of the line.

    They are read from the network's own estimate, never from the true clip: a weight that knew the answer would shift the mean that the
    network is to learn towards objects, at every place where one may be.
    """
    t, h, w = grid
    estimate = (rows - sigma.view(-1, 1, 1) * velocity).detach().unflatten(1, (t, h, w))
    low, middle, high = (estimate[:, :, :, w * i // 6] for i in (1, 3, 5))
    ground = torch.maximum(torch.minimum(low, middle), torch.minimum(torch.maximum(low, middle), high))
    gap = (estimate - ground[:, :, :, None]).abs().mean(-1).flatten(1)
    return 1 + FOCUS * (gap / STANDS_OUT).clamp(max=1)


def loss_of(net, pool, size, mean, std):
    """Mean squared velocity error over noisy rows, by modality."""
    device = mean.device.type
    batch, targets = data.draw_batch(pool, size, mean, std)
    with torch.autocast(device, torch.bfloat16):
        out = net.denoise(batch, net.prefill(batch["ids"]))
    losses = {}
    for key, (target, weight) in targets.items():
        found = out[key][:, -target.shape[1] :, : target.shape[2]].float()
        error = ((found - target) ** 2).mean(-1)
        if key == "vision":
            rows = batch["vision"][:, -target.shape[1] :]
            weight = weight * focus_of(rows, found, batch["sigma"], batch["grid"])
        losses[key] = (error * weight).sum() / weight.sum().clamp(min=1)
    return losses


def initialise(net):
    """Small output projections and unit-scale embeddings."""
    torch.nn.init.normal_(net.embed_tokens.weight, std=0.5)
    torch.nn.init.normal_(net.lm_head.weight, std=0.02)
    for layer in (net.proj_out, net.audio_proj_out):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
    torch.nn.init.zeros_(net.action_proj_out.fc.weight)
    for vector in (net.audio_modality_embed, net.action_modality_embed):
        torch.nn.init.normal_(vector, std=0.5)


def latent_statistics(pools):
    """Mean and deviation per channel over toys and robots."""
    parts = [pools[n].latent[:512].float() for n in ("toy", "bridge", "push", "drive") if n in pools]
    mean = torch.stack([p.mean((0, 2, 3, 4)) for p in parts]).mean(0)
    square = torch.stack([(p**2).mean((0, 2, 3, 4)) for p in parts]).mean(0)
    return mean, (square - mean**2).sqrt()


def save(net, average, out):
    names = [n for n, _ in net.named_parameters()]
    safetensors.save({n: a.to(torch.bfloat16) for n, a in zip(names, average)}, out / "transformer.safetensors")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--seed", type=int, default=21, help="of the scenes; another one for every run")
    parser.add_argument("--fraction", type=float, default=1.0, help="size of the pools")
    parser.add_argument("--feed", type=float, default=0.4, help="share of the time that encoding new scenes may take")
    parser.add_argument("--count", type=int, default=64, help="prompts of each check of the evaluation; 0 leaves it out")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-3, help="highest rate")
    parser.add_argument("--hold", type=float, default=0.1, help="share of the time at the highest rate; a straight fall follows")
    parser.add_argument("--floor", type=float, default=0.0, help="rate at the end, as a share of the highest")
    parser.add_argument("--only", default="", help="names of pools, with commas between: the others are left out")
    parser.add_argument("--small", type=int, default=0, help="divides batches and evaluation, to try the program out")
    args = parser.parse_args()
    device, small = args.device, args.small or 1
    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    only = args.only.split(",") if args.only else [*TOYS, *OTHERS]
    tables = [{name: row for name, row in table.items() if name in only} for table in (TOYS, OTHERS)]
    tables = [table for table in tables if table]
    names, begin = [name for table in tables for name in table], time.time()
    feed = data.Feed(names, args.seed, args.fraction, args.tokenizer, workers=11 if small == 1 else 1)
    if args.compile:
        torch._dynamo.config.recompile_limit = 32
        for part in ("gen_heads", "gen_rest", "und"):
            setattr(transformer.Layer, part, torch.compile(getattr(transformer.Layer, part), dynamic=True))
        vae.norm_silu_forward = torch.compile(vae.norm_silu_forward, dynamic=True)
    video_net, sound_net = load_parts(args.parts, device)
    take = lambda: feed.take(video_net, sound_net, configs.TRANSFORMER["action_dim"], device)
    pools = feed.pools
    while len(pools) < len(names):
        take()
    print(f"first scenes of every pool after {time.time() - begin:.0f}s", flush=True)
    stats_file = args.parts / "latents.json"
    if stats_file.exists():
        stats = json.loads(stats_file.read_text())
        mean, std = (torch.tensor(stats[k], device=device) for k in ("mean", "std"))
    else:
        mean, std = latent_statistics(pools)
        (args.out / "latents.json").write_text(json.dumps({"mean": mean.tolist(), "std": std.tolist()}))
    print("latent std", [round(x, 2) for x in std.tolist()], flush=True)
    mean, std = mean.view(1, -1, 1, 1, 1), std.view(1, -1, 1, 1, 1)
    net = transformer.Transformer(configs.TRANSFORMER)
    initialise(net)
    if args.resume:
        net.load_state_dict({k: v.float() for k, v in safetensors.load(args.resume).items()})
    net = net.to(device)
    optimizer = optimiser.Optimiser(net)
    params = optimizer.params
    average = [p.detach().clone() for p in params]
    odds = [torch.tensor([v[0] for v in table.values()]) for table in tables]
    sums, step, feeding, paused = {}, 0, 0.0, 0.0
    start = mark = last = time.time()
    while True:
        # a stopped process (to time something else on the GPU) loses none of its time; neither do compilations after the first
        now = time.time()
        if now - last > PAUSE and step > 100:
            paused += now - last
        last, elapsed = now, now - start - paused
        if elapsed >= args.seconds:
            break
        progress = elapsed / args.seconds
        fallen = max(0, progress - args.hold) / (1 - args.hold)
        rate = args.rate * min(1, (step + 1) / WARM) * (1 - (1 - args.floor) * fallen)
        optimizer.zero()
        for table, weights in zip(tables, odds):
            name = list(table)[int(torch.multinomial(weights, 1))]
            losses = loss_of(net, pools[name], max(2, table[name][1] // small), mean, std)
            sum(WEIGHT[k] * v for k, v in losses.items()).backward()
            group_name = name.split(" ")[0]
            for key, value in losses.items():
                entry = sums.setdefault(f"{group_name}/{key}", [0.0, 0])
                entry[0], entry[1] = entry[0] + value.detach(), entry[1] + 1
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step(rate)
        step += 1
        blend = 1 - min(AVERAGE, (step + 1) / (step + 20))
        torch._foreach_lerp_(average, [p.data for p in params], blend)
        if step % 400 == 0 or (small > 1 and step % 4 == 0) or step in (20, 100):
            text = " ".join(f"{k} {float(v[0]) / v[1]:.3f}" for k, v in sorted(sums.items()))
            print(f"step {step} {elapsed:.0f}s rate {rate:.1e} | {text}", flush=True)
            sums = {}
        if time.time() - mark > 60:
            save(net, average, args.out)
            mark = time.time()
        while feed.ready() and feeding < args.feed * (elapsed + 1):
            begin = time.time()
            take()
            feeding += time.time() - begin
            if not feed.waiting:
                print(f"all {sum(len(p.latent) for p in pools.values())} scenes after {time.time() - start:.0f}s, {feeding:.0f}s of them", flush=True)
    save(net, average, args.out)
    print(f"steps {step}", flush=True)
    if args.count:
        evaluate.run(with_average(net, average), video_net, sound_net, mean, std, args, count=max(2, args.count // small), prefix="final")


def with_average(net, average):
    """A frozen copy of the network with the averaged weights, as stored (bfloat16 precision)."""
    copy = transformer.Transformer(net.config).to(average[0].device).eval().requires_grad_(False)
    for p, a in zip(copy.parameters(), average):
        p.data.copy_(a.to(torch.bfloat16))
    return copy


if __name__ == "__main__":
    main()
