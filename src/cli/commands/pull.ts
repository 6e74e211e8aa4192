// `orrery pull`: fetches a checkpoint.
import type { Command } from 'commander';
import { watchInterrupts } from '../interrupt.js';
import { printLine, printNote } from '../print.js';
import { describeDownload, Progress } from '../progress.js';

interface PullFlags {
  readonly include?: string[];
  readonly exclude?: string[];
  readonly localDir?: string;
  readonly revision?: string;
  readonly quiet?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  orrery pull nvidia/Cosmos3-Nano
  orrery pull nvidia/Cosmos3-Nano --include 'transformer/*' --local-dir ./nano

A download that broke off continues where it stopped; files are checked by SHA-256. vision_encoder/ is fetched only when
--include names it. HF_TOKEN gives access to gated repositories, HF_HOME says where the cache is, HF_ENDPOINT names another hub.`;

/** Adds the command. */
export function addPullCommand(program: Command): void {
  program
    .command('pull')
    .description('download a checkpoint into the cache, or a folder')
    .argument('<repository>', 'repository id, as nvidia/Cosmos3-Nano')
    .option('--include <glob...>', 'only files that match')
    .option('--exclude <glob...>', 'no files that match')
    .option('--local-dir <folder>', 'plain files in this folder instead of the cache')
    .option('--revision <name>', 'branch, tag or commit')
    .option('-q, --quiet', 'show nothing but errors')
    .option('--json', 'print the result as one JSON object')
    .option('--debug', 'show stack traces')
    .addHelpText('after', examples)
    .action((repository: string, flags: PullFlags) => pull(repository, flags));
}

async function pull(repository: string, flags: PullFlags): Promise<void> {
  const { formatBytes, pullCheckpoint } = await import('../../engine/index.js');
  const { include, exclude, localDir, revision } = flags;
  const isQuiet = flags.quiet === true || flags.json === true;
  using progress = new Progress(isQuiet);
  using interrupts = watchInterrupts(() => {
    progress.clear();
    printNote('stopping; the download continues here next time');
  });
  const pulled = await pullCheckpoint(repository, {
    include,
    exclude,
    localDir,
    revision,
    signal: interrupts.signal,
    onProgress: ({ file, filesDone, files, ...state }) =>
      progress.show(describeDownload(`file ${Math.min(filesDone + 1, files)} of ${files}`, state, file)),
  });
  progress.clear();
  if (flags.json === true) printLine(JSON.stringify(pulled));
  else if (flags.quiet !== true)
    printLine(`${pulled.folder}  (${pulled.files.length} files, ${formatBytes(pulled.totalBytes)})`);
}
