// All files of a job, to keep.
import { artifactVariants, type Job } from '../../../src/protocol/index.js';
import { formatBytes } from '../texts/format.js';
import { t, tMaybe } from '../texts/t.js';
import { LinkButton } from '../ui/index.js';
import { hintOf } from './media-of.js';
import { endingOf } from './request/repeat-form.js';
import { roleName } from './result-stage.js';

type Variant = Job['artifacts'][number]['variant'];

/** Links to what was made and what went in. */
export function Downloads({ job }: { readonly job: Job }) {
  return (
    <section class="card stack" aria-labelledby="see-files">
      <h2 id="see-files">{t('see.files')}</h2>
      <ul class="see-files">
        {inOrder(job.artifacts).map(({ variant, media_type, bytes, url }) => (
          <li key={url} class="row">
            <LinkButton href={url} icon="download" download={fileName(job.id, variant, media_type)}>
              {fileWord(variant)}
            </LinkButton>
            <span class="muted small">{t('see.fileFacts', { type: media_type, size: formatBytes(bytes) })}</span>
          </li>
        ))}
        {job.inputs.map(({ role, media_type, bytes, url }) => (
          <li key={url} class="row">
            <LinkButton href={url} icon="download" download={`${job.id}_${role}.${endingOf(media_type)}`}>
              {t('see.inputFile', { role: roleName(role) })}
            </LinkButton>
            <span class="muted small">{t('see.fileFacts', { type: media_type, size: formatBytes(bytes) })}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function fileWord(variant: Variant): string {
  const hint = hintOf({ variant });
  return hint === null ? (tMaybe(`see.variant.${variant}`) ?? variant) : t('see.controlFile', { role: roleName(hint) });
}

/** What was asked for first. */
function inOrder(artifacts: Job['artifacts']): Job['artifacts'] {
  return artifacts.toSorted((a, b) => artifactVariants.indexOf(a.variant) - artifactVariants.indexOf(b.variant));
}

/** The name that the server gives the file too. */
function fileName(id: string, variant: string, mediaType: string): string {
  const isMain = variant === 'video' || variant === 'image';
  return `${id}${isMain ? '' : `_${variant}`}.${endingOf(mediaType)}`;
}
