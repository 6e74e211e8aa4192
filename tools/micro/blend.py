"""Averages two trained transformers: places between the ends of two trainings, the second of which went on from the first.

    python blend.py --first a/transformer.safetensors --second b/transformer.safetensors --share 0.65 --out parts/transformer.safetensors

`--share` is what the second counts, 0 .. 1. Both must have the same parts, units and tensors.
"""

import argparse
from pathlib import Path

import torch

from networks import safetensors


def blend(first, second, share):
    """{name: tensor} between two such, in bfloat16; share 0 is the first."""
    if not 0 <= share <= 1:
        raise ValueError(f"the share is {share}; give a number from 0 to 1")
    if first.keys() != second.keys():
        raise ValueError(f"only one of the two has {sorted(first.keys() ^ second.keys())}")
    return {name: ((1 - share) * tensor.float() + share * second[name].float()).to(torch.bfloat16) for name, tensor in first.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=Path, required=True)
    parser.add_argument("--second", type=Path, required=True)
    parser.add_argument("--share", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    safetensors.save(blend(safetensors.load(args.first), safetensors.load(args.second), args.share), args.out)


if __name__ == "__main__":
    main()
