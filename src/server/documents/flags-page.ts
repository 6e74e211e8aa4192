// docs/flags.md: every flag of `orrery serve` and what becomes of it, out of the table that the command line is made from.
import { serveFlags } from '../options/flags.js';
import { type FlagGroup, isObeyed, type ServeFlag } from '../options/serve-flag.js';

const groups: readonly FlagGroup[] = [
  'Server',
  'Model',
  'Requests',
  'Safety',
  'Jobs',
  'Operation',
  'Device',
  'Parallelism',
];

const intro = `# Flags of \`orrery serve\`

Made by \`node scripts/generate-docs.mjs\`; edit the table in \`src/server/options\`, not this page.

No flag is silently without effect: it works, or a line says at start-up that it asks for what is so anyway, or the server refuses to start and says why.
Every flag is also a key of the config file (\`--config FILE\`, YAML or JSON, dashes or underscores) and, where it works and takes a value, an environment
variable: \`--max-queue\` is \`ORRERY_MAX_QUEUE\`. The command line wins over the environment, that over the file. \`--print-config\` shows what was understood.
Secrets are better kept in files (\`--api-key-file\`, \`--guardrail-key-file\`): command lines are visible to other users of a machine.

Settings that the original server takes from the environment are flags here: \`VLLM_API_KEY\` is \`--api-key\`, \`VLLM_OMNI_VIDEO_SYNC_TIMEOUT\` is
\`--sync-timeout\`, \`VLLM_OMNI_SERVER_STORAGE__PATH\` is \`--storage-path\`, \`VLLM_OMNI_SERVER_STORAGE__FILE_TTL\` is \`--storage-lifetime\`,
\`VLLM_MAX_IMAGE_PIXELS\` is \`--max-media-pixels\`.
`;

/** The page. */
export function renderFlagsPage(): string {
  const working = groups.flatMap((group) => {
    const rows = serveFlags.filter((flag) => flag.group === group && isObeyed(flag)).map(renderWorking);
    return rows.length === 0
      ? []
      : [`## ${group}\n\n| Flag | Where absent | What it does |\n|---|---|---|\n${rows.join('\n')}\n`];
  });
  const other = serveFlags.filter((flag) => !isObeyed(flag)).map(renderCompatible);
  const compatible = `## Of the original interface\n\n| Flag | What becomes of it | Because |\n|---|---|---|\n${other.join('\n')}\n`;
  return [intro, ...working, compatible].join('\n');
}

function nameOf({ name, value, aliases = [], several }: ServeFlag): string {
  const names = [name, ...aliases].map((spelled) => `\`--${spelled}\``).join(', ');
  return `${names}${value === undefined ? '' : ` \`${value}\``}${several ? ' …' : ''}`;
}

function renderWorking(flag: ServeFlag): string {
  const fallback = flag.fallback === undefined ? '' : `\`${flag.fallback}\``;
  return `| ${nameOf(flag)} | ${fallback} | ${cell(flag.about)}${onGpuAlone(flag)} |`;
}

function onGpuAlone({ does }: ServeFlag): string {
  if (does.effect !== 'gpu') return '';
  const but = does.values.length > 0 ? ` but for ${does.values.map((value) => `\`${value}\``).join(', ')}` : '';
  return ` On the CPU refused${but}: ${cell(does.why)}.`;
}

function renderCompatible(flag: ServeFlag): string {
  const { does } = flag;
  switch (does.effect) {
    case 'works':
    case 'gpu':
      return '';
    case 'noted':
      return `| ${nameOf(flag)} | taken, changes nothing | ${cell(does.why)} |`;
    case 'only':
      return `| ${nameOf(flag)} | only ${does.values.map((value) => `\`${value}\``).join(', ')} | ${cell(does.why)} |`;
    case 'refused':
      return `| ${nameOf(flag)} | refused | ${cell(does.why)} |`;
    default:
      return does satisfies never;
  }
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
