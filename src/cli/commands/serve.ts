// `orrery serve`: the server, until it is told to stop.
import { type Command, Option } from 'commander';
import { type FlagInput, serveFlags } from '../../server/options/flags.js';
import { isObeyed, type ServeFlag } from '../../server/options/serve-flag.js';
import { exitCodes } from '../exit-codes.js';
import { printLine } from '../print.js';

const details = `
Examples:
  orrery serve
  orrery serve nvidia/Cosmos3-Nano --host 0.0.0.0 --guardrail-url http://localhost:9000/v1/moderations
  orrery serve --config orrery.yaml --print-config

Flags may also stand in a file (--config) and, where they take a value, in the environment: --max-queue is ORRERY_MAX_QUEUE.
The command line wins over the environment, that over the file. docs/flags.md describes every flag.`;

/** Adds the command. */
export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('answer HTTP requests in the OpenAI-compatible interface')
    .argument(
      '[model]',
      'checkpoint: a folder, a .safetensors file or a repository id; the one of the package where absent',
    )
    .addHelpText('after', details);
  for (const flag of serveFlags) for (const option of makeOptions(flag)) command.addOption(option);
  command.action(async (model: string | undefined) => run(model, command));
}

async function run(model: string | undefined, command: Command): Promise<void> {
  const { mergeInputs, nameSource, printConfig, readConfigFile } = await import('../../server/options/config-file.js');
  const { readSettings } = await import('../../server/options/settings.js');
  const { given, environment } = readOptions(command);
  const config = given.config ?? environment.config;
  const sources = [
    { name: null, input: { ...(model === undefined ? {} : { model }), ...given } },
    { name: 'from the environment', input: environment },
    { name: `from ${config}`, input: typeof config === 'string' ? readConfigFile(config) : {} },
  ];
  const { config: _file, 'print-config': asksForConfig, ...flags } = mergeInputs(...sources.map(({ input }) => input));
  let read: ReturnType<typeof readSettings>;
  try {
    read = readSettings(flags);
  } catch (error) {
    throw nameSource(error, sources);
  }
  const { settings, notes } = read;
  if (asksForConfig === true) {
    printLine(printConfig(flags).trimEnd());
    return;
  }
  const stop = waitForSignal();
  // The whole server takes longest to load: not before the flags are known to be right.
  const { serve } = await import('../../server/index.js');
  const server = await serve(settings, { notes });
  try {
    // A device that cannot be opened ends the server; one that dies later is started again.
    await Promise.race([server.ready, stop.asked]);
    await stop.asked;
  } finally {
    const isClosed = await Promise.race([
      server.close(settings.drainTimeoutSeconds).then(() => true),
      stop.askedAgain.then(() => false),
    ]);
    stop.forget();
    // Workers end with their parent; what they were at runs again at the next start.
    if (!isClosed) process.exit(exitCodes.terminated);
  }
}

/** The first signal asks to drain, the second to end at once. */
function waitForSignal() {
  let ask: () => void = () => undefined;
  let askAgain: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const askedAgain = new Promise<void>((resolve) => {
    askAgain = resolve;
  });
  let count = 0;
  const handle = () => (count++ === 0 ? ask() : askAgain());
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    asked,
    askedAgain,
    forget() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}

function makeOptions(flag: ServeFlag): readonly Option[] {
  const { name, kind, value, several, aliases = [], about, fallback } = flag;
  const isUseful = isObeyed(flag);
  const words = fallback === undefined ? lowerFirst(about) : `${lowerFirst(about)} (${fallback} where absent)`;
  return [name, ...aliases].map((spelled, i) => {
    const option = new Option(kind === 'switch' ? `--${spelled}` : `--${spelled} <${value ?? 'VALUE'}>`, words);
    if (several) option.argParser((item: string, before: readonly string[] | undefined) => [...(before ?? []), item]);
    if (isUseful && i === 0 && kind !== 'switch') option.env(`ORRERY_${name.replaceAll('-', '_').toUpperCase()}`);
    if (!isUseful || i > 0) option.hideHelp();
    return option;
  });
}

/** Values by the names of flags, apart by where they were given. */
function readOptions(command: Command): { readonly given: FlagInput; readonly environment: FlagInput } {
  const given: Record<string, unknown> = {};
  const environment: Record<string, unknown> = {};
  for (const option of command.options) {
    const attribute = option.attributeName();
    const source = command.getOptionValueSource(attribute);
    const found: unknown = command.getOptionValue(attribute);
    // `--no-guardrails` is `guardrails: false` to the parser.
    const value = option.negate ? found === false : found;
    const name = option.name();
    if (source === 'cli') given[name] = value;
    else if (source === 'env') environment[name] = value;
  }
  return { given, environment };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, '');
}
