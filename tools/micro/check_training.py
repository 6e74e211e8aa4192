"""Checks what the training programs rest on, in seconds on a CPU, with the checkpoint of the repository.

    python check_training.py [../../checkpoints/micro]
"""

import sys
from pathlib import Path

import numpy as np
import torch

import data
import train_transformer
from blend import blend
from check_goldens import load_net
from networks import transformer, vae
from pool import make_scenes
from rescale_actions import columns_of, rescale
from train_sound import make_waves
from world import render, units


def check_rescaling(folder):
    """A rescaled network gives, in the old units, the same to the last bit; and a second one leads back."""
    net = load_net(transformer.Transformer, folder / "transformer")
    weights = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    larger = rescale(weights, 4.0)
    generator = torch.Generator().manual_seed(1)
    draw = lambda *shape: torch.randn(shape, generator=generator)
    count, rows = 8, 24
    ids = torch.tensor([[625, 274, 198, 400, 626]])
    for name, domain in data.DOMAINS.items():
        factor = torch.ones(16)
        factor[columns_of(name)] = 4.0
        batch = {"vision": draw(1, rows, 64), "t": torch.tensor([0.4]), "noisy": torch.ones(1, rows + count), "domain": torch.tensor([domain])}
        places = [transformer.vision_positions(1, 4, 6, 15005.0), transformer.action_positions(count, 15005.0)]
        batch["positions"] = torch.cat(places, 1)[None]
        action = draw(1, count, 16)
        net.load_state_dict(weights)
        before = net.denoise(batch | {"action": action}, net.prefill(ids))
        net.load_state_dict(larger)
        after = net.denoise(batch | {"action": action * factor}, net.prefill(ids))
        assert torch.equal(after["action"] / factor, before["action"]), name
        assert torch.equal(after["vision"], before["vision"]), name
    back = rescale(larger, 0.25)
    assert all(torch.equal(back[name], tensor) for name, tensor in weights.items())
    try:
        rescale(weights, 3.0)
    except ValueError:
        return "equal to the last bit in the old units, every domain"
    raise AssertionError("a factor that rounds was taken")


def check_units():
    """Scenes give their numbers in the units of LARGER, and scaling back gives plain places."""
    scene = make_scenes(3, ["push"], 25, plan="task", workers=1)[0]
    plain = units.scaled(scene.actions, "pusht", 1 / units.LARGER)[:, :2]
    place = scene.facts["tip"][1:] / (scene.width / 2, scene.height / 2) - 1
    assert np.allclose(plain, place)
    return f"{units.LARGER:g} to half of the side"


def check_focus(folder):
    """Rows that show objects count several times as much as the ground's, by an estimate that is right."""
    net = load_net(vae.Vae, folder / "vae")
    scenes = make_scenes(4, ["toy"] * 2, 9, motions=["straight", "orbit"], workers=1)
    batch = render.collate(scenes)
    mean, std = (torch.tensor(net.config[key]).view(1, -1, 1, 1, 1) for key in ("latents_mean", "latents_std"))
    clean = transformer.to_tokens((net.encode(data.quantise(render.render(batch))) - mean) / std)
    sigma = torch.tensor([0.3, 0.9])
    noise = torch.randn(clean.shape, generator=torch.Generator().manual_seed(2))
    rows = clean + sigma.view(-1, 1, 1) * (noise - clean)
    weights = train_transformer.focus_of(rows, noise - clean, sigma, (3, 6, 10))
    inside = (render.render(batch, "depth")[:, :1, 0] > -0.7).float()  # of frame 0, the first latent frame
    share = torch.nn.functional.avg_pool2d(inside, 32).flatten(1)
    first = weights[:, :60]
    shows, far = first[share > 0.3], first[share == 0]
    assert shows.min() > 2.0, shows
    assert far.median() < 1.5, far.median()
    return f"rows of objects {shows.mean():.1f}, of the ground {far.median():.2f}"


def check_sounds():
    """Every pitch is drilled alike."""
    waves = make_waves(5, 48, "cpu", drill=1.0, workers=1)
    spectrum = torch.fft.rfft(waves[..., :48000]).abs().mean((0, 1))
    strengths = [spectrum[int(hertz) - 20 : int(hertz) + 20].max().item() for hertz in (250, 300, 350, 450, 500, 550)]
    assert max(strengths) < 3 * min(strengths), strengths
    return f"weakest pitch {min(strengths) / max(strengths):.2f} of the strongest"


def check_motions():
    """What sounds is frequent enough to be learnt."""
    scenes = make_scenes(6, ["toy"] * 400, 25, workers=1)
    ticking = np.mean([(scene.ticks[:, 1] > 0).any() for scene in scenes])
    counts = {motion: sum(scene.facts["motion"] == motion for scene in scenes) for motion in ("orbit", "bounce", "walls", "pair")}
    assert ticking > 0.2 and min(counts.values()) > 30, (ticking, counts)
    return f"{ticking:.0%} of clips tick; of 400 {counts}"


def check_packing(folder):
    """On a GPU: attention that leaves padding out gives the masked one's rows and gradients."""
    net = load_net(transformer.Transformer, folder / "transformer").cuda()
    generator = torch.Generator("cuda").manual_seed(1)
    draw = lambda *shape: torch.randn(shape, generator=generator, device="cuda")
    count, length, words = 6, 40, 24  # samples, rows, text
    seen = torch.rand(count, words + length, generator=generator, device="cuda") < 0.8
    batch = {
        "vision": draw(count, length, 64), "t": torch.rand(count, device="cuda"), "noisy": torch.ones(count, length, device="cuda"),
        "positions": transformer.vision_positions(2, 4, 5, 15000.0)[None].repeat(count, 1, 1).cuda(),
    }
    ids = torch.randint(0, 600, (count, words), generator=generator, device="cuda")
    bias = torch.where(seen, 0.0, float("-inf"))[:, None, None]
    found = []
    for way in ({"bias": bias}, {"packing": transformer.packing_of(seen, length)}):
        net.zero_grad()
        with torch.enable_grad():
            with torch.autocast("cuda", torch.bfloat16):
                rows = net.denoise(batch | way, net.prefill(ids))["vision"].float()
            rows.square().mean().backward()
        found.append([rows.detach(), *(p.grad.clone() for n, p in net.named_parameters() if p.grad is not None and "layers.0." in n)])
    gaps = [((a - b).norm() / a.norm().clamp_min(1e-12)).item() for a, b in zip(*found)]
    assert max(gaps) < 0.05, gaps
    return f"rows and gradients within {max(gaps):.1e}"


def check_blend():
    """Shares of 0 and 1 give the ends, half of it the middle, and parts that only one has are told."""
    first, second = {"a": torch.tensor([1.0, 2.0])}, {"a": torch.tensor([3.0, -2.0])}
    for share, wanted in ((0, [1, 2]), (1, [3, -2]), (0.5, [2, 0])):
        assert blend(first, second, share)["a"].tolist() == wanted, share
    for wrong in (lambda: blend(first, second, 2), lambda: blend(first, {"b": second["a"]}, 0.5)):
        try:
            wrong()
        except ValueError:
            continue
        raise AssertionError("a wrong blend was made")
    return "its ends and its middle"


@torch.no_grad()
def main(folder):
    torch.set_num_threads(1)
    checks = {
        "rescaled actions": lambda: check_rescaling(folder), "units": check_units, "focus": lambda: check_focus(folder),
        "sounds": check_sounds, "motions": check_motions, "blend": check_blend,
    }
    if torch.cuda.is_available():
        checks["packing"] = lambda: check_packing(folder)
    bad = 0
    for name, check in checks.items():
        try:
            print(f"ok   {name}: {check()}", flush=True)
        except AssertionError as error:
            bad += 1
            print(f"FAIL {name}: {error}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "checkpoints/micro"))
