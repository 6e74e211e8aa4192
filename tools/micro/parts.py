"""Lays an exported checkpoint out as the parts that the trainings resume from.

    python parts.py --checkpoint ../../checkpoints/micro --out parts

Writes vae.safetensors, sound.safetensors, transformer.safetensors and latents.json (the latent channels' mean and deviation).
"""

import argparse
import json
import shutil
from pathlib import Path

FOLDERS = {"vae": "vae", "sound_tokenizer": "sound", "transformer": "transformer"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for folder, part in FOLDERS.items():
        shutil.copyfile(args.checkpoint / folder / "diffusion_pytorch_model.safetensors", args.out / f"{part}.safetensors")
    config = json.loads((args.checkpoint / "vae" / "config.json").read_text())
    statistics = {"mean": config["latents_mean"], "std": config["latents_std"]}
    (args.out / "latents.json").write_text(json.dumps(statistics))


if __name__ == "__main__":
    main()
