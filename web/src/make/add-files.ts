// Takes dropped files in: actions are read here, pictures and clips are sent to the server once and named afterwards.

import { describeError } from '../store/toasts.js';
import type { Store } from '../store/types.js';
import { t } from '../texts/t.js';
import { changeInput, type Draft, type DraftInput, putInput } from './draft.js';
import { readActions } from './read-actions.js';
import { type Role, roleFor } from './task-inputs.js';

/** Adds files to the form. @param nextKey gives each a number of its own */
export async function addFiles(
  files: readonly File[],
  { draft, store, nextKey }: { readonly draft: Draft; readonly store: Store; readonly nextKey: () => number },
  wanted?: Role,
): Promise<void> {
  for (const file of files) {
    if (/\.(json|csv|txt)$/i.test(file.name) || /^(application\/json|text\/)/.test(file.type))
      await addRows(file, { draft, store, key: nextKey() });
    else await addMedia(file, { draft, store, key: nextKey() }, wanted);
  }
}

interface Place {
  readonly draft: Draft;
  readonly store: Store;
  readonly key: number;
}

const nothing = { error: undefined, fileId: null, url: null, width: null, height: null, frames: null, rows: null };

async function addRows(file: File, { draft, store, key }: Place): Promise<void> {
  const rows = readActions(await file.text());
  if (rows === null) {
    store.toasts.show({ kind: 'error', text: t('make.badActions', { name: file.name }) });
    return;
  }
  putInput(draft, { ...nothing, key, role: 'action', name: file.name, state: 'ready', kind: 'rows', rows });
}

/** The role is guessed from the file's name and type, and settled when the server has looked into it. */
async function addMedia(file: File, { draft, store, key }: Place, wanted: Role | undefined): Promise<void> {
  const kind = file.type.startsWith('video/') ? 'video' : 'image';
  const taken = draft.inputs.value.map(({ role }) => role);
  const role = wanted ?? roleFor({ name: file.name, kind }, draft.task.value, taken);
  const url = URL.createObjectURL(file);
  putInput(draft, { ...nothing, key, role, name: file.name, state: 'sending', kind, url });
  try {
    const upload = await store.client.upload(file);
    const { file_id: fileId, width, height, frames } = upload;
    const settled: Partial<DraftInput> = { state: 'ready', fileId, kind: upload.kind, width, height, frames };
    const isPlain = role === 'image' || role === 'video';
    changeInput(draft, key, isPlain ? { ...settled, role: upload.kind } : settled);
  } catch (error) {
    changeInput(draft, key, { state: 'failed', error: describeError(error) });
  }
}
