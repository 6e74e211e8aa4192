// The newest preview of a job in a box of the result's shape: it grows from noise without moving anything around it.
import type { JobState } from '../store/types.js';
import { t } from '../texts/t.js';
import { Frame, Icon } from '../ui/index.js';

/** The preview, or the thumbnail once there is one. */
export function LivePicture({ state }: { readonly state: JobState }) {
  const { record, preview } = state;
  const width = record.width ?? preview?.width ?? 16;
  const height = record.height ?? preview?.height ?? 9;
  const image = record.artifacts.find(({ variant }) => variant === 'image')?.url;
  const url = preview?.image ?? record.thumbnail_url ?? image ?? null;
  const words = preview ? t('watch.preview', { step: preview.step }) : record.prompt;
  return (
    <Frame width={width} height={height}>
      {url === null ? (
        <span class="watch-blank">
          <Icon name={record.kind === 'image' ? 'image' : 'film'} />
        </span>
      ) : (
        <img src={url} alt={words} width={width} height={height} decoding="async" />
      )}
    </Frame>
  );
}
