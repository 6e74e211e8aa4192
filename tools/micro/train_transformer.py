"""Trains the transformer on every task at once, over latents of the finished autoencoders.

    python train_transformer.py --parts DIR --tokenizer tokenizer.json --out DIR --seconds 780 [--resume transformer.safetensors]

--parts holds vae.safetensors and sound.safetensors. Writes transformer.safetensors (averaged, bfloat16), latents.json
(mean and deviation of the latent channels) and log lines; at the end the figures of evaluate.py.
"""

import argparse
import json
import math
import time
from pathlib import Path

import torch

import configs
import data
import evaluate
from networks import safetensors, sound, transformer, vae

PEAK_RATE = 2e-3
FLOOR = 0.02
AVERAGE = 0.999
# Two batches a step: one of toys (or pictures), one of robots or transfer. pool -> odds, samples
TOYS = {
    "toy": (0.56, 240), "toy 256x256": (0.06, 216), "toy 320x256": (0.035, 168), "toy 256x320": (0.035, 168), "toy 192x320": (0.035, 216),
    "toy 9": (0.045, 384), "toy 17": (0.045, 288), "toy 33": (0.045, 168), "image 320x192": (0.045, 768), "image 256x256": (0.035, 768),
    "image 320x256": (0.02, 768), "image 256x320": (0.02, 768), "image 192x320": (0.02, 768),
}
OTHERS = {
    "bridge": (0.19, 216), "droid": (0.11, 216), "droid_joints": (0.09, 216), "push": (0.15, 216), "drive": (0.14, 216),
    "transfer": (0.28, 120), "transfer drive": (0.04, 120),
}
WEIGHT = {"vision": 1.0, "sound": 0.5, "action": 1.0}


def load_parts(folder, device):
    """The frozen autoencoders."""
    nets = []
    for kind, config, name in ((vae.Vae, configs.VAE, "vae"), (sound.SoundTokenizer, configs.SOUND, "sound")):
        net = kind(config)
        net.load_state_dict({k: v.float() for k, v in safetensors.load(Path(folder) / f"{name}.safetensors").items()})
        nets.append(net.to(device).eval().requires_grad_(False))
    return nets


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
    parser.add_argument("--fraction", type=float, default=0.6, help="share of the pools made at first; the rest follows at 45 %% of the time")
    parser.add_argument("--peek", type=float, default=250, help="seconds after which a first small evaluation is written")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", type=int, default=1)
    parser.add_argument("--rate", type=float, default=PEAK_RATE)
    parser.add_argument("--small", type=int, default=0, help="divides batches and evaluation, to try the program out")
    args = parser.parse_args()
    device, small = args.device, args.small or 1
    torch.manual_seed(7)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    if args.compile:
        torch._dynamo.config.recompile_limit = 32
        transformer.Layer.gen = torch.compile(transformer.Layer.gen, dynamic=True)
        transformer.Layer.und = torch.compile(transformer.Layer.und, dynamic=True)
        vae.norm_silu_forward = torch.compile(vae.norm_silu_forward, dynamic=True)
    video_net, sound_net = load_parts(args.parts, device)
    names = [*TOYS, *OTHERS]
    start = time.time()
    make = lambda seed, share: data.build_pools(names, seed, share, args.tokenizer, video_net, sound_net, configs.TRANSFORMER["action_dim"], device, workers=14 if small == 1 else 1)
    pools = make(21, args.fraction)
    print(f"pools of {sum(len(p.latent) for p in pools.values())} in {time.time() - start:.0f}s", flush=True)
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
    params = [p for p in net.parameters()]
    average = [p.detach().clone() for p in params]
    decay = [p for p in params if p.ndim == 2]
    other = [p for p in params if p.ndim != 2]
    optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01}, {"params": other, "weight_decay": 0.0}], args.rate, betas=(0.9, 0.95), fused=device == "cuda")
    odds = [torch.tensor([v[0] for v in table.values()]) for table in (TOYS, OTHERS)]
    sums, step, grown, peeked = {}, 0, args.fraction >= 1, False
    start = mark = time.time()
    while (elapsed := time.time() - start) < args.seconds:
        progress = elapsed / args.seconds
        rate = args.rate * min(1, (step + 1) / 300) * (FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * progress)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        for table, weights in zip((TOYS, OTHERS), odds):
            name = list(table)[int(torch.multinomial(weights, 1))]
            losses = loss_of(net, pools[name], max(2, table[name][1] // small), mean, std)
            sum(WEIGHT[k] * v for k, v in losses.items()).backward()
            group_name = name.split(" ")[0]
            for key, value in losses.items():
                entry = sums.setdefault(f"{group_name}/{key}", [0.0, 0])
                entry[0], entry[1] = entry[0] + value.detach(), entry[1] + 1
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
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
        if not grown and progress > 0.45:
            grown, begin = True, time.time()
            for name, more in make(22, 1 - args.fraction).items():
                pools[name] = data.merge(pools[name], more)
            print(f"grown to {sum(len(p.latent) for p in pools.values())} in {time.time() - begin:.0f}s", flush=True)
        if not peeked and elapsed > args.peek:
            peeked = True
            evaluate.run(with_average(net, average), video_net, sound_net, mean, std, args, count=16 // min(small, 8), prefix="peek")
    save(net, average, args.out)
    print(f"steps {step}", flush=True)
    evaluate.run(with_average(net, average), video_net, sound_net, mean, std, args, count=96 // small or 2, prefix="final")


def with_average(net, average):
    """A frozen copy of the network with the averaged weights, as stored (bfloat16 precision)."""
    copy = transformer.Transformer(net.config).to(average[0].device).eval().requires_grad_(False)
    for p, a in zip(copy.parameters(), average):
        p.data.copy_(a.to(torch.bfloat16))
    return copy


if __name__ == "__main__":
    main()
