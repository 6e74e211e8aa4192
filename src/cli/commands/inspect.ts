// `orrery inspect`: what a checkpoint consists of.
import type { Command } from 'commander';
import type { Inspection } from '../../engine/index.js';
import { formatBytes } from '../../engine/tools/format-bytes.js';
import { formatTable, printLine } from '../print.js';

interface InspectFlags {
  readonly tensors?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery inspect ./Cosmos3-Nano
  orrery inspect nvidia/Cosmos3-Nano --tensors`;

/** Adds the command. */
export function addInspectCommand(program: Command): void {
  program
    .command('inspect')
    .description("show a checkpoint's parts, shapes, dtypes and parameter counts")
    .argument('[checkpoint]', "a folder, a .safetensors file or a repository id; the package's own where absent")
    .option('--tensors', 'list every tensor')
    .option('--json', 'print one JSON object, tensors included')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action(async (checkpoint: string | undefined, flags: InspectFlags) => {
      const { inspectCheckpoint } = await import('../../engine/index.js');
      const inspection = await inspectCheckpoint({ model: checkpoint });
      if (flags.json === true) printLine(JSON.stringify(inspection));
      else printInspection(inspection, flags.tensors === true);
      if (inspection.problem !== null) throw new Error(inspection.problem);
    });
}

function printInspection(inspection: Inspection, listsTensors: boolean): void {
  const { path, className, family, parts, parameters, bytes, unread } = inspection;
  printLine(
    `${path}\n${className ?? 'unnamed class'}, ${family}, ${formatCount(parameters)} parameters, ${formatBytes(bytes)}\n`,
  );
  const rows = parts.map((part) => {
    const dtypes = Object.entries(part.dtypes).map(([dtype, count]) => `${count} ${dtype}`);
    const isWeightless = part.tensors.length === 0;
    return [
      part.name,
      part.className ?? '',
      isWeightless ? '' : formatCount(part.parameters),
      isWeightless ? 'no weights' : formatBytes(part.bytes),
      dtypes.join(', '),
    ];
  });
  printLine(formatTable([['part', 'class', 'parameters', 'size', 'tensors'], ...rows]));
  if (listsTensors) {
    for (const { name, tensors } of parts) {
      if (tensors.length === 0) continue;
      printLine(`\n${name}`);
      printLine(
        formatTable(tensors.map((tensor) => [`  ${tensor.name}`, `[${tensor.shape.join(', ')}]`, tensor.dtype])),
      );
    }
  }
  if (unread.length > 0) printLine(`\nnot read by any network: ${unread.join(', ')}`);
}

function formatCount(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} B`;
  if (count >= 1e6) return `${(count / 1e6).toFixed(2)} M`;
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)} k` : String(count);
}
