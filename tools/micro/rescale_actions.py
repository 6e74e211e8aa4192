"""Moves a trained transformer to other units of its action numbers without changing what it computes.

    python rescale_actions.py --weights transformer.safetensors --out start.safetensors --larger 4

The numbers in `world/units.py` become so many times as large. The factor is a power of two: in bfloat16 as in float32 nothing is rounded,
and outputs in the old units stay equal to the last bit. A training that begins from such weights must have its scenes in the new units.
"""

import argparse
import math
from pathlib import Path

from data import DOMAINS
from networks import safetensors
from world import units

WIDTH = 16  # action numbers of the network


def columns_of(domain):
    """Columns of one domain of the network that are rescaled: those of all its kinds of scenes."""
    kinds = (domain, "droid_joints") if domain == "droid_lerobot" else (domain,)
    return sorted({column for kind in kinds for column in units.COLUMNS.get(kind, ())})


def rescale(weights, factor):
    """{name: tensor} in which the action numbers of `world/units.py` are `factor` times as large; other tensors are shared."""
    if factor <= 0 or math.frexp(factor)[0] != 0.5:
        raise ValueError(f"the factor is {factor}; give a power of two, so that nothing is rounded")
    into, out, bias = (weights[f"action_proj_{name}"].clone() for name in ("in.fc.weight", "out.fc.weight", "out.bias.weight"))
    for name, domain in DOMAINS.items():
        columns = columns_of(name)
        into[domain].view(WIDTH, -1)[columns] /= factor
        out[domain].view(-1, WIDTH)[:, columns] *= factor
        bias[domain, columns] *= factor
    return weights | {"action_proj_in.fc.weight": into, "action_proj_out.fc.weight": out, "action_proj_out.bias.weight": bias}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--larger", type=float, required=True)
    args = parser.parse_args()
    safetensors.save(rescale(safetensors.load(args.weights), args.larger), args.out)


if __name__ == "__main__":
    main()
