// The request of a job as it can be sent again, and what its inputs are called as files.

type Named = Readonly<Record<string, unknown>>;

/** What the lines need of a job. */
export interface RepeatableJob {
  readonly id: string;
  readonly kind: string;
  readonly prompt: string;
  readonly seed: number | null;
  readonly request: Named;
  readonly inputs: readonly { readonly role: string; readonly file_id: string; readonly media_type: string }[];
  readonly artifacts: readonly { readonly variant: string; readonly media_type: string; readonly url: string }[];
}

/** An input of a job as a file beside the command. */
export interface InputFile {
  readonly role: string;
  readonly fileId: string;
  readonly name: string;
  readonly mediaType: string;
}

const endings: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/bmp': 'bmp',
  'image/tiff': 'tif',
  'audio/wav': 'wav',
  'application/json': 'json',
  'application/octet-stream': 'safetensors',
};

/** The usual ending of a file of that type, without the dot. */
export function endingOf(mediaType: string): string {
  return endings[mediaType.split(';')[0]?.trim() ?? ''] ?? 'bin';
}

/** The request with the seed that was drawn for it, so that it gives the same again. */
export function repeatForm({ request, seed }: Pick<RepeatableJob, 'request' | 'seed'>): Named {
  const given = Object.entries(request).filter(([, value]) => value !== undefined && value !== null);
  const form = Object.fromEntries(given);
  const extra = isNamed(form.extra_params) ? form.extra_params : {};
  const isSeeded = form.seed !== undefined || (extra.seed ?? null) !== null;
  return isSeeded || seed === null ? form : { ...form, seed };
}

/** Files that went into a job, each under the name of its role. */
export function inputFiles({ inputs }: Pick<RepeatableJob, 'inputs'>): readonly InputFile[] {
  return inputs.map(({ role, file_id, media_type }) => ({
    role,
    fileId: file_id,
    name: `${role}.${endingOf(media_type)}`,
    mediaType: media_type,
  }));
}

/** Name of the file that repeating a job gives. */
export function resultName({ id, kind, artifacts }: Pick<RepeatableJob, 'id' | 'kind' | 'artifacts'>): string {
  const main =
    artifacts.find(({ variant }) => variant === kind) ?? artifacts.find(({ variant }) => variant === 'action');
  return `${id}.${endingOf(main?.media_type ?? (kind === 'image' ? 'image/png' : 'video/mp4'))}`;
}

/** Whether the server asks for keys: its addresses are signed then. */
export function needsKey({ artifacts }: Pick<RepeatableJob, 'artifacts'>): boolean {
  return artifacts.some(({ url }) => /[?&]token=/.test(url));
}

export function isNamed(value: unknown): value is Named {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
