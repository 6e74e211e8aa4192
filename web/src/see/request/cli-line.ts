// A job's request as a command for `orrery generate`. Its flags are those of the protocol's schemas.
import {
  aliases,
  extraParams,
  flagOf,
  generationFields,
  hintParams,
  structuredParams,
} from '../../../../src/protocol/index.js';
import { keyParts } from './curl-line.js';
import { type InputFile, inputFiles, isNamed, type RepeatableJob, repeatForm, resultName } from './repeat-form.js';
import { commandOf, quoteWord } from './shell-quote.js';

type Named = Readonly<Record<string, unknown>>;

const parameters: Readonly<Record<string, Parameters<typeof flagOf>[0]>> = {
  ...generationFields,
  ...extraParams,
  ...structuredParams,
};

/**
 * The command, behind the commands that fetch the inputs.
 * @param model checkpoint to run, a folder or repository; the package's own where null
 */
export function cliLine(job: RepeatableJob, baseUrl: string, model: string | null): string {
  const files = inputFiles(job);
  const { extra_params, ...fields } = repeatForm(job);
  const given = canonical({ ...fields, ...(isNamed(extra_params) ? extra_params : {}) });
  const rest: Record<string, unknown> = {};
  const flags: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (name === 'prompt' || name === 'model' || parameters[name] === undefined) continue;
    const flag = name in hintParams ? hintFlag(name, value, files) : plainFlag(name, value);
    if (flag === null) rest[name] = name in hintParams ? hintMembers(name, value, files) : value;
    else flags.push(flag);
  }
  const command = commandOf([
    promptPart(String(given.prompt ?? job.prompt)),
    ...(model === null ? [] : [`--model ${quoteWord(model)}`]),
    ...referenceFlags(fields, files),
    ...flags,
    ...(Object.keys(rest).length === 0 ? [] : [`--extra-body ${quoteWord(JSON.stringify(rest))}`]),
    ...outputs(job),
  ]);
  return [...files.map((file) => fetchLine(job, baseUrl, file)), command].join('\n');
}

function canonical(given: Named): Named {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [aliases[name] ?? name, value]));
}

/** A prompt that begins with a dash would be taken for a flag. */
function promptPart(prompt: string): string {
  const isLikeFlag = prompt.startsWith('-') || prompt === '';
  return `orrery generate ${isLikeFlag ? `--prompt=${quoteWord(prompt)}` : quoteWord(prompt)}`;
}

/** The flag with its value; null where only --extra-body can say it. */
function plainFlag(name: string, value: unknown): string | null {
  const schema = parameters[name];
  const declared = schema === undefined ? undefined : flagOf(schema);
  if (declared === undefined || typeof value === 'object') return null;
  if (declared.value === undefined) return value === true ? `--${declared.flag}` : null;
  const text = String(value);
  return text.startsWith('-') ? `--${declared.flag}=${quoteWord(text)}` : `--${declared.flag} ${quoteWord(text)}`;
}

/** A hint that is a switch or a map alone; null where it has other members. */
function hintFlag(name: string, value: unknown, files: readonly InputFile[]): string | null {
  if (value === true || typeof value === 'string')
    return value === true ? `--${name}` : `--${name} ${quoteWord(value)}`;
  const file = files.find(({ role }) => role === name);
  const isMapAlone = isNamed(value) && Object.keys(value).every((member) => member === 'file_id');
  return isMapAlone && file ? `--${name} ${quoteWord(file.name)}` : null;
}

function hintMembers(name: string, value: unknown, files: readonly InputFile[]): unknown {
  if (!isNamed(value)) return value;
  const { file_id, ...members } = value;
  const file = file_id === undefined ? undefined : files.find(({ role }) => role === name);
  return file === undefined ? members : { control_path: file.name, ...members };
}

function referenceFlags(fields: Named, files: readonly InputFile[]): readonly string[] {
  const kept = files.filter(({ role }) => role === 'image' || role === 'video');
  if (kept.length > 0) return kept.map(({ role, name }) => `--${role} ${quoteWord(name)}`);
  const url = (name: string, member: string) => {
    const reference = fields[name];
    const value = isNamed(reference) ? reference[member] : undefined;
    return typeof value === 'string' ? value : null;
  };
  const image = url('image_reference', 'image_url');
  const video = url('video_reference', 'video_url');
  return [
    ...(image === null ? [] : [`--image ${quoteWord(image)}`]),
    ...(video === null ? [] : [`--video ${quoteWord(video)}`]),
  ];
}

function outputs(job: RepeatableJob): readonly string[] {
  const name = resultName(job);
  const hasActions = job.artifacts.some(({ variant }) => variant === 'action');
  return [
    `-o ${quoteWord(name)}`,
    ...(hasActions && !name.endsWith('.json') ? [`-o ${quoteWord(`${job.id}.json`)}`] : []),
  ];
}

function fetchLine(job: RepeatableJob, baseUrl: string, { role, name }: InputFile): string {
  const url = `${baseUrl}/v1/jobs/${encodeURIComponent(job.id)}/inputs/${encodeURIComponent(role)}`;
  return ['curl -sS --fail-with-body', quoteWord(url), ...keyParts(job), '-o', quoteWord(name)].join(' ');
}
