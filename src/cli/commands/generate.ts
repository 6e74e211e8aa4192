// `orrery generate` and `orrery plan`: from words, pictures and clips to files.
import type { Command } from 'commander';
import { RequestError } from '../../protocol/index.js';
import { addParameterFlags, extraKeys } from '../parameter-flags.js';
import { formatTable } from '../print.js';
import { addDeviceFlags } from './flags/device-flags.js';
import type { GenerateFlags } from './flags/generate-flags.js';
import { addDecoderFlags, addModelFlags } from './flags/model-flags.js';

const examples = `
Examples:
  orrery generate "A red ball rolls to the right." -o ball.mp4
  orrery generate "A red sports car at golden hour." --task text-to-image --size 1024x1024 -o car.png
  orrery generate "The scene comes to life." --image frame.jpg --num-frames 49 -o clip.mp4
  orrery generate "Continue the same scene." --video clip.mp4 -o more.mp4
  orrery generate "Waves on a beach." --sound -o waves.mp4 -o waves.wav
  orrery generate "A street at night." --video day.mp4 --edge -o night.mp4
  orrery generate "A street." --depth depth.mp4 --extra-body '{"control_guidance": 1.5}' -o street.mp4
  orrery generate "Pick up the banana." --image first.jpg --action-mode policy \\
    --domain-name bridge_orig_lerobot --raw-action-dim 10 -o rollout.mp4 -o actions.json
  orrery generate --from ball.mp4 -o again.mp4

Outputs, by extension: .mp4 clip (with its sound) · .png .jpg .webp picture · .wav sound · .json actions and plan ·
.safetensors final latents. Without -o the file is named after the prompt.

With --json, stdout has one JSON line per event: plan, phase, step, artifact, error. With --json --quiet only the last.

Exit codes: 0 done · 1 failed · 2 the request or the flags are wrong · 130 stopped by Ctrl-C.`;

/** Adds `generate`. */
export function addGenerateCommand(program: Command): void {
  const command = program
    .command('generate')
    .description('make a clip, picture, sound or actions')
    .argument('[prompt]', 'what to make; the same as --prompt');
  addRequestFlags(command);
  command
    .option('-o, --output <file>', 'file to write, may be repeated; the extension says what', collect)
    .option('--from <file>', 'repeat the artifact in this file, and say whether the result is the same')
    .option('--dry-run', 'print the plan, its cost and memory, and stop')
    .option('-q, --quiet', 'show nothing but errors')
    .option('--json', 'print events as JSON lines on stdout')
    .option('--debug', 'show stack traces, and names in the checkpoint that nothing reads')
    .addHelpText('after', () => `\n${describeExtraKeys()}\n${examples}`)
    .action((prompt: string | undefined, flags: GenerateFlags) => {
      const given = withPrompt(prompt, flags);
      return flags.dryRun === true ? planLazily(given) : generateLazily(given);
    });
}

/** Adds `plan`. */
export function addPlanCommand(program: Command): void {
  const command = program
    .command('plan')
    .description('print what generate would do, with token counts, cost and memory (generate --dry-run)')
    .argument('[prompt]', 'what to make; the same as --prompt');
  addRequestFlags(command);
  command
    .option('--from <file>', 'print the plan of the artifact in this file')
    .option('-q, --quiet', 'show no warnings')
    .option('--json', 'print the plan on one line')
    .option('--debug', 'show stack traces')
    .addHelpText(
      'after',
      () =>
        `\n${describeExtraKeys()}\n\nExample:\n  orrery plan "A red ball rolls." --num-frames 49 --model nvidia/Cosmos3-Nano`,
    )
    .action((prompt: string | undefined, flags: GenerateFlags) => planLazily(withPrompt(prompt, flags)));
}

// The engine is loaded when a command runs, so that help and versions come at once.
async function generateLazily(flags: GenerateFlags): Promise<void> {
  const { runGenerate } = await import('./run-generate.js');
  await runGenerate(flags);
}

async function planLazily(flags: GenerateFlags): Promise<void> {
  const { runPlan } = await import('./run-plan.js');
  await runPlan(flags);
}

function addRequestFlags(command: Command): void {
  addParameterFlags(command);
  command
    .option('--image <file>', 'picture to start from: a path, an http(s) or data URL')
    .option('--video <file>', 'clip to continue, control or read actions from: a path or URL')
    .option('--extra-body <json>', 'extra parameters as a JSON object, or @FILE; they win over flags')
    .option('--strict', 'unknown extra parameters are errors instead of warnings')
    .option('--part <name=path>', 'take a part of the checkpoint from elsewhere, may be repeated', collect)
    .option('--revision <name>', 'branch, tag or commit of the repository');
  addDeviceFlags(command);
  addModelFlags(command);
  addDecoderFlags(command);
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

function withPrompt(prompt: string | undefined, flags: GenerateFlags): GenerateFlags {
  if (prompt === undefined) return flags;
  if (flags.prompt === undefined) return { ...flags, prompt };
  throw new RequestError('conflict', 'prompt', 'prompt is given twice, as an argument and as --prompt; give one');
}

function describeExtraKeys(): string {
  const rows = extraKeys().map(([name, description]) => [`  ${name}`, description]);
  return `Keys of --extra-body that have no flag (every flag's name works too, as num_frames):\n${formatTable(rows)}`;
}
