"""Holds the networks against the golden cases of the tiny random checkpoint (float32, CPU)."""

import json
import sys
from pathlib import Path

import torch

from networks import safetensors, sound, transformer, vae

LIMIT = 1e-4


def load_net(kind, folder):
    """A network of a checkpoint part, in float32."""
    config = json.loads((folder / "config.json").read_text())
    net = kind(config)
    stored = safetensors.load(folder / "diffusion_pytorch_model.safetensors")
    weights = {name: tensor.float() for name, tensor in stored.items()}
    # nothing here reads the language head, and the golden checkpoint leaves it out
    head = {name: tensor for name, tensor in net.state_dict().items() if name.startswith("lm_head.")}
    net.load_state_dict(head | weights, strict=True)
    return net.eval()


def relative(a, b):
    return ((a - b).norm() / b.norm()).item()


def velocity(net, case, prefix, modality=None, domain=0, clean=0):
    """Velocities of the first step; `clean` latent frames in front are conditioned."""
    ids = case[f"{prefix}/input_ids"][None]
    latent = case["noise/vision"].clone()
    _, _, t, h, w = latent.shape
    if clean:
        latent[:, :, :clean] = case["vision_condition_latent"][:, :, :clean, :h, :w]
    offset = ids.shape[1] + 15000
    hp, wp = (h + 1) // 2, (w + 1) // 2
    fps = 5.0 if modality == "action" else 24.0
    positions = [transformer.vision_positions(t, hp, wp, offset, fps)]
    noisy = [torch.ones(t * hp * wp)]
    noisy[0][: clean * hp * wp] = 0
    batch = {"vision": transformer.to_tokens(latent), "t": case["timesteps"][:1].trunc() * 0.001, "domain": torch.tensor([domain])}
    if modality == "sound":
        batch["sound"] = case["noise/sound"].T[None]
        positions.append(transformer.sound_positions(batch["sound"].shape[1], offset))
    if modality == "action":
        batch["action"] = case["noise/action"].clone()[None]
        batch["action"][..., 10:] = 0
        positions.append(transformer.action_positions(batch["action"].shape[1], offset, fps))
    if modality:
        noisy.append(torch.ones(batch[modality].shape[1]))
    batch |= {"positions": torch.cat(positions, 1)[None], "noisy": torch.cat(noisy)[None]}
    drift = (batch["positions"][0] - case[f"{prefix}/position_ids"][:, ids.shape[1] :]).abs().max() if f"{prefix}/position_ids" in case else 0
    assert drift <= 1e-3, f"positions differ by {drift}"
    out = net.denoise(batch, net.prefill(ids))
    result = transformer.to_latent(out["vision"], latent.shape[1], t, h, w)
    result[:, :, :clean] = 0
    return result, out


@torch.no_grad()
def main(root):
    torch.backends.cuda.matmul.allow_tf32 = False
    root = Path(root)
    cases = {n: safetensors.load(root / f"cases/{n}.safetensors") for n in ("vae", "sound_tokenizer", "t2v", "t2vs", "action_policy", "i2v")}
    found = {}
    net = load_net(vae.Vae, root / "tiny-nano/vae")
    case = cases["vae"]
    for stacked in (False, True):
        vae.STACK_FRAMES = stacked
        for name in ("encode9", "encode1"):
            found[f"vae {name} stack={stacked}"] = relative(net.encode(case[f"{name}/pixels"]), case[f"{name}/latent_raw"])
        for n in (9, 1):
            decoded = net.decode(case[f"encode{n}/latent_raw"]).clamp(-1, 1)
            found[f"vae decode{n} stack={stacked}"] = relative(decoded, case[f"decode{n}/pixels"])
    vae.STACK_FRAMES = False
    net = load_net(sound.SoundTokenizer, root / "tiny-nano/sound_tokenizer")
    case = cases["sound_tokenizer"]
    found["sound encode"] = relative(net.encode(case["waveform"]), case["latent"])
    found["sound decode"] = relative(net.decode(case["latent"]).clamp(-1, 1), case["decoded"])
    net = load_net(transformer.Transformer, root / "tiny-nano/transformer")
    for name, prefix, modality, clean in (
        ("t2v", "cond", None, 0), ("t2v", "uncond", None, 0), ("i2v", "cond", None, 1),
        ("t2vs", "cond", "sound", 0), ("action_policy", "cond", "action", 1),
    ):
        case = cases[name]
        vision, out = velocity(net, case, prefix, modality, domain=7, clean=clean)
        found[f"{name} {prefix} vision"] = relative(vision, case[f"step00/{prefix}/velocity"])
        if modality == "sound":
            found[f"{name} sound"] = relative(out["sound"][0].T, case["step00/cond/velocity_sound"])
        if modality == "action":
            found[f"{name} action"] = relative(out["action"][0, :, :10], case["step00/cond/velocity_action"][:, :10])
    bad = [name for name, value in found.items() if not value <= LIMIT]
    for name, value in found.items():
        print(f"{'FAIL' if name in bad else 'ok  '} {name}: {value:.1e}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2] / "test/golden/data"))
