"""Writes golden cases of the micro checkpoint from this side: float32, CPU, the layout of test/golden/data.

    python write_cases.py --checkpoint ../../checkpoints/micro --out ../../out/micro-cases
"""

import argparse
import json
from pathlib import Path

import torch

import data
import sampler
from check_goldens import load_net
from networks import safetensors, transformer, vae
from networks import transformer as tf
from picture import write_png
from pool import make_scenes
from tokenizer import Tokenizer
from world import captions as c
from world import render

WIDTH, HEIGHT, FRAMES, SHIFT = 320, 192, 9, 5.0
GUIDANCE = 3.0  # of the clip: the checkpoint's own
NUDGE = 1e-6  # of noise, to see how much of a rounding the result shows


def denoise(net, latent, clean, texts, steps, guidance, actions=None, domain=0, action_dim=0):
    """Runs a case one sample at a time; returns its tensors by golden name and the last latents.

    latent: noise [1, C, T, h, w]; clean: (frames in front, their latent); texts: {branch: token ids};
    actions: noise [Na, A] or None.
    """
    found = {"noise/vision": latent.clone()}
    sigmas = sampler.native_sigmas(steps, SHIFT)
    found["sigmas"] = torch.tensor(sigmas, dtype=torch.float32)
    found["timesteps"] = torch.tensor([float(sampler.timestep(s)) for s in sigmas[:-1]])
    frames, given = clean
    _, channels, t, h, w = latent.shape
    noisy = torch.ones(t * (h // 2) * (w // 2))
    noisy[: frames * (h // 2) * (w // 2)] = 0
    latent[:, :, :frames] = given[:, :, :frames]
    found["vision_condition_latent"] = given
    caches, places = {}, {}
    for branch, ids in texts.items():
        offset = len(ids) + 15000
        place = [tf.vision_positions(t, h // 2, w // 2, offset)]
        if actions is not None:
            place.append(tf.action_positions(len(actions), offset))
        places[branch] = torch.cat(place, 1)
        text = torch.arange(len(ids)).float().expand(3, -1)
        found[f"{branch}/input_ids"] = torch.tensor(ids)
        found[f"{branch}/position_ids"] = torch.cat([text, places[branch]], 1)
        caches[branch] = net.prefill(torch.tensor([ids]))
    solver, action_solver = sampler.UniPc(sigmas), sampler.UniPc(sigmas)
    if actions is not None:
        found["noise/action"] = actions.clone()
        actions[:, action_dim:] = 0
        noisy = torch.cat([noisy, torch.ones(len(actions))])
    for i in range(steps):
        velocity = {}
        for branch in texts:
            batch = {"vision": tf.to_tokens(latent), "t": found["timesteps"][i : i + 1] * 0.001, "noisy": noisy[None], "positions": places[branch][None]}
            if actions is not None:
                batch |= {"action": actions[None], "domain": torch.tensor([domain])}
            out = net.denoise(batch, caches[branch])
            v = tf.to_latent(out["vision"], channels, t, h, w)
            v[:, :, :frames] = 0
            velocity[branch] = v
            if i in (0, steps - 1):
                found[f"step{i:02d}/{branch}/velocity"] = v
            if actions is not None:
                va = out["action"][0].clone()
                if i in (0, steps - 1):
                    found[f"step{i:02d}/{branch}/velocity_action"] = va.clone()
                va[:, action_dim:] = 0
        v = velocity["cond"] if guidance <= 1 else velocity["uncond"] + guidance * (velocity["cond"] - velocity["uncond"])
        latent = solver.step(latent, v)
        latent[:, :, :frames] = given[:, :, :frames]
        found[f"step{i:02d}/latents"] = latent.clone()
        if actions is not None:
            actions = action_solver.step(actions, va)
            actions[:, action_dim:] = 0
            found[f"step{i:02d}/action_latents"] = actions.clone()
    return found, latent, actions


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    for folder in ("cases", "media"):
        (args.out / folder).mkdir(parents=True, exist_ok=True)
    net = load_net(transformer.Transformer, args.checkpoint / "transformer")
    video_net = load_net(vae.Vae, args.checkpoint / "vae")
    mean, std = (torch.tensor(video_net.config[k]).view(1, -1, 1, 1, 1) for k in ("latents_mean", "latents_std"))
    tokenizer = Tokenizer(args.checkpoint / "text_tokenizer/tokenizer.json")
    shape = (1, 16, (FRAMES - 1) // 4 + 1, HEIGHT // 16, WIDTH // 16)
    common = {"checkpoint": "micro", "use_native_flow_schedule": True}
    scheduler = json.loads((args.checkpoint / "scheduler/scheduler_config.json").read_text())
    cases = {}

    prompt, seed, steps = "A blue ball rolls to the right on a white background", 31, 4
    texts = {"cond": c.chat(c.with_sentences(prompt, WIDTH, HEIGHT, FRAMES)), "uncond": c.chat(c.with_sentences("", WIDTH, HEIGHT, FRAMES, negated=True))}
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    ids, given = {k: tokenizer.encode(t) for k, t in texts.items()}, torch.zeros(shape)
    other = noise + NUDGE * torch.randn(shape, generator=torch.Generator().manual_seed(1))
    nudged = denoise(net, other, (0, given), ids, steps, GUIDANCE)[1]
    found, latent, _ = denoise(net, noise, (0, given), ids, steps, GUIDANCE)
    growth = float((nudged - latent).norm() / latent.norm()) / NUDGE
    if growth > 20:
        raise SystemExit(f"rounding grows {growth:.0f} times in this case, so that it proves nothing: take another seed")
    del found["vision_condition_latent"]
    safetensors.save(found, args.out / "cases/t2v.safetensors")
    request = {"prompt": prompt, "num_frames": FRAMES, "height": HEIGHT, "width": WIDTH, "num_inference_steps": steps, "guidance_scale": GUIDANCE, "fps": 24.0}
    cases["t2v"] = {"note": "trained weights", "seed": seed, "request": request, "scheduler": scheduler, "calls": 2 * steps, "cond_text": texts["cond"], **common}

    scene = make_scenes(404, ["bridge"], FRAMES, plan="task", workers=1)[0]
    pixels = data.quantise(render.render(render.select(render.collate([scene]), slice(0, 1), torch.zeros(1, 1, dtype=torch.long))))
    picture = ((pixels[0, :, 0] + 1) * 127.5).round().byte().permute(1, 2, 0)
    write_png(args.out / "media/bridge.png", picture)
    prompt, seed = f"Put the {scene.facts['object']} on the {scene.facts['target']}.", 32
    text = c.chat(c.action_caption(prompt, WIDTH, HEIGHT, FRAMES))
    generator = torch.Generator().manual_seed(seed)
    noise, actions = torch.randn(shape, generator=generator), torch.randn(FRAMES - 1, net.config["action_dim"], generator=generator)
    given = torch.zeros(shape)
    given[:, :, :1] = (video_net.encode(pixels) - mean) / std
    found, _, actions = denoise(net, noise, (1, given), {"cond": tokenizer.encode(text)}, steps, 1.0, actions, data.DOMAINS["bridge_orig_lerobot"], 10)
    found |= {"action": actions[:, :10], "vision_condition_pixels_u8": picture.permute(2, 0, 1)[None, :, None].contiguous()}
    found["vision_condition_latent"] = found["vision_condition_latent"][:, :, :1].contiguous()
    safetensors.save(found, args.out / "cases/action_policy.safetensors")
    action = {"mode": "policy", "chunk_size": FRAMES - 1, "domain_name": "bridge_orig_lerobot", "resolution_tier": 256, "view_point": "ego_view", "raw_action_dim": 10, "image": "media/bridge.png"}
    request = {"prompt": prompt, "action": action, "num_inference_steps": steps, "guidance_scale": 1.0, "fps": 24.0}
    cases["action_policy"] = {"note": "trained weights; the condition latent is of frame 0 alone", "seed": seed, "request": request, "scheduler": scheduler, "calls": steps, "cond_text": text, **common}
    (args.out / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
