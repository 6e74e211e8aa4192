"""Writes the checkpoint in the published layout.

    python export.py --parts DIR --out checkpoints/micro

DIR holds vae.safetensors, sound.safetensors, transformer.safetensors and latents.json. The tokenizer's files must lie
in OUT/text_tokenizer already (tokenizer.py).
"""

import argparse
import json
import shutil
from pathlib import Path

import configs

SCHEDULER = {
    "_class_name": "UniPCMultistepScheduler",
    "_diffusers_version": "0.40.0.dev0",
    "beta_end": 0.02,
    "beta_schedule": "linear",
    "beta_start": 0.0001,
    "disable_corrector": [],
    "dynamic_thresholding_ratio": 0.995,
    "final_sigmas_type": "zero",
    "flow_shift": 5.0,
    "lower_order_final": True,
    "num_train_timesteps": 1000,
    "predict_x0": True,
    "prediction_type": "flow_prediction",
    "rescale_betas_zero_snr": False,
    "sample_max_value": 1.0,
    "shift_terminal": None,
    "sigma_max": None,
    "sigma_min": None,
    "solver_order": 2,
    "solver_p": None,
    "solver_type": "bh2",
    "steps_offset": 0,
    "thresholding": False,
    "time_shift_type": "exponential",
    "timestep_spacing": "linspace",
    "trained_betas": None,
    "use_beta_sigmas": False,
    "use_dynamic_shifting": False,
    "use_exponential_sigmas": False,
    "use_flow_sigmas": True,
    "use_karras_sigmas": False,
}


def task_defaults(guidance, shift=5.0, frames=25):
    return {"width": 320, "height": 192, "frames": frames, "fps": 24, "steps": 16, "guidance": guidance, "flow_shift": shift}


MODEL_INDEX = {
    "_class_name": "Cosmos3OmniPipeline",
    "_diffusers_version": "0.40.0.dev0",
    "default_use_system_prompt": False,
    "enable_safety_checker": False,
    "orrery_defaults": {
        "text-to-image": task_defaults(7.0, 3.0, 1),
        "text-to-video": task_defaults(3.0),
        "image-to-video": task_defaults(3.0),
        "video-to-video": task_defaults(3.0),
        "transfer": task_defaults(3.0),
        "policy": task_defaults(1.0),
        "forward-dynamics": task_defaults(1.0),
        "inverse-dynamics": task_defaults(1.0),
    },
    "safety_checker": [None, None],
    "scheduler": ["diffusers", "UniPCMultistepScheduler"],
    "sound_tokenizer": ["diffusers", "Cosmos3AVAEAudioTokenizer"],
    "text_tokenizer": ["transformers", "TokenizersBackend"],
    "transformer": ["diffusers", "Cosmos3OmniTransformer"],
    "use_native_flow_schedule": True,
    "vae": ["diffusers", "AutoencoderKLWan"],
}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    latents = json.loads((args.parts / "latents.json").read_text())
    vae = {**configs.VAE, "latents_mean": latents["mean"], "latents_std": latents["std"]}
    for folder, name, config in (("vae", "vae", vae), ("sound_tokenizer", "sound", configs.SOUND), ("transformer", "transformer", configs.TRANSFORMER)):
        write_json(args.out / folder / "config.json", config)
        shutil.copy(args.parts / f"{name}.safetensors", args.out / folder / "diffusion_pytorch_model.safetensors")
    write_json(args.out / "scheduler" / "scheduler_config.json", SCHEDULER)
    write_json(args.out / "model_index.json", MODEL_INDEX)
    size = sum(f.stat().st_size for f in args.out.rglob("*") if f.is_file())
    print(f"{size / 1e6:.2f} MB in {args.out}")


if __name__ == "__main__":
    main()
