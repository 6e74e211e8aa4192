// `orrery convert`: a transformer's weights from the diffusers layout to the flat one, and back.
import { type Command, Option } from 'commander';
import { readLora } from '../../../engine/door/read-lora.js';
import type { Converted } from '../../../engine/flash/index.js';
import { formatBytes } from '../../../engine/tools/format-bytes.js';
import { watchInterrupts } from '../../interrupt.js';
import { printLine, printNote } from '../../print.js';
import { Progress } from '../../progress.js';

interface ConvertFlags {
  readonly output: string;
  readonly to?: 'flat' | 'diffusers';
  readonly all?: boolean;
  readonly base?: string;
  readonly loraPath?: string;
  readonly loraScale?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery convert ./Cosmos3-Nano -o flat.safetensors
  orrery convert flat.safetensors -o ./transformer --base ./Cosmos3-Nano
  orrery convert ./Cosmos3-Nano --to diffusers --lora-path style.safetensors -o ./styled
  orrery generate "A cat." --model ./Cosmos3-Nano --part transformer=./styled

The flat layout is one file with what denoising reads (797 tensors for 36 layers), and with --all everything else. On the
way back, tensors that a flat file lacks (embeddings, heads) come from --base, or are left out and named. Values are copied
bit by bit, but for matrices that an adapter (--lora-path) is merged into; a conversion that is stopped leaves nothing behind.

Exit codes: 0 done · 1 failed · 2 the flags are wrong · 130 stopped by Ctrl-C.`;

/** Adds the command. */
export function addConvertCommand(program: Command): void {
  program
    .command('convert')
    .description("convert a transformer's weights between the diffusers layout and the flat one")
    .argument('[checkpoint]', "a folder, a .safetensors file or a repository id; the package's own where absent")
    .requiredOption('-o, --output <path>', 'a .safetensors file for the flat layout, a new folder for the other')
    .addOption(new Option('--to <layout>', 'the other one where absent').choices(['flat', 'diffusers']))
    .option('--all', 'to flat: every tensor, not only what denoising reads')
    .option('--base <checkpoint>', 'to diffusers: a checkpoint that gives what the flat file lacks')
    .option('--lora-path <path>', 'adapter to merge into the weights that are written: a file or a folder')
    .option('--lora-scale <s>', 'its strength; 1, as trained, where absent')
    .option('-q, --quiet', 'show nothing but errors')
    .option('--json', 'print the result as one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((checkpoint: string | undefined, flags: ConvertFlags) => convert(checkpoint, flags));
}

async function convert(checkpoint: string | undefined, flags: ConvertFlags): Promise<void> {
  const { convertCheckpoint } = await import('../../../engine/flash/index.js');
  const { output, to, all, base, json, loraPath, loraScale } = flags;
  const lora = readLora({ path: loraPath, scale: loraScale });
  const isQuiet = flags.quiet === true || json === true;
  using progress = new Progress(isQuiet);
  using interrupts = watchInterrupts(() => {
    progress.clear();
    if (!isQuiet) printNote('stopping after this tensor; nothing will be left behind');
  });
  const converted = await convertCheckpoint(checkpoint, {
    output,
    to,
    all,
    base,
    lora,
    signal: interrupts.signal,
    onProgress: ({ bytes, totalBytes }) =>
      progress.show({
        label: 'convert',
        done: bytes === totalBytes ? Math.ceil(totalBytes / 2 ** 20) : Math.floor(bytes / 2 ** 20),
        total: Math.ceil(totalBytes / 2 ** 20),
        detail: 'MiB',
      }),
  });
  progress.clear();
  if (json === true) printLine(JSON.stringify(converted));
  else if (flags.quiet !== true) printConverted(converted);
}

function printConverted({ output, layout, tensors, bytes, dropped, fromBase, missing, hasConfig }: Converted): void {
  printLine(`${output}  ${layout}, ${tensors} tensors, ${formatBytes(bytes)}`);
  if (dropped.length > 0)
    printNote(`left out, since denoising does not read them (--all keeps them): ${dropped.join(', ')}`);
  if (fromBase.length > 0) printNote(`from the base: ${fromBase.join(', ')}`);
  if (missing.length > 0) printNote(`missing for generation (--base CHECKPOINT gives them): ${missing.join(', ')}`);
  if (!hasConfig && layout === 'diffusers')
    printNote('no config.json was written: neither the file nor a base has one (--base CHECKPOINT gives it)');
}
