// What a job has made, with what went into it beside it, all in step.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Job } from '../../../src/protocol/index.js';
import { t, tMaybe } from '../texts/t.js';
import { Frame, Segmented } from '../ui/index.js';
import { WipeFrame } from './compare/wipe-frame.js';
import { inputFrames, type Media, type SidePart, sideParts } from './media-of.js';
import { MediaBox } from './player/media-box.js';
import type { Playback } from './player/playback.js';
import { Transport } from './player/transport.js';
import { usePageKeys } from './player/use-page-keys.js';
import { usePlayerKeys, wantsStillness } from './player/use-playback.js';
import { viewAfterKey, wholeView, type ZoomView } from './player/zoom.js';
import { ZoomButtons } from './player/zoom-picture.js';
import { useFullscreen } from './use-fullscreen.js';

export interface ResultStageProps {
  readonly job: Job;
  /** Null where the job made actions alone: what went in is shown with them then. */
  readonly media: Media | null;
  readonly plan: Readonly<Record<string, unknown>> | null;
  readonly playback: Playback;
  readonly onBroken: () => void;
}

/** Key of the result among the parts of its playback. */
export const resultPart = 'result';

/** The result, its inputs and its control maps, given or made: beside each other, or one of them under the result. */
export function ResultStage({ job, media, plan, playback, onBroken }: ResultStageProps) {
  const zoom = useSignal(wholeView);
  const [under, setUnder] = useState('');
  const parts = sideParts(job);
  const isClip = media?.kind !== 'picture';
  const hasSound = media?.hasSound ?? false;
  const shape = { width: media?.width ?? job.width ?? 16, height: media?.height ?? job.height ?? 9 };
  const frames = inputFrames(plan);
  usePlayerKeys(playback, isClip);
  useZoomKeys(zoom, !isClip);
  useEffect(() => {
    if (media?.kind === 'clip' && !hasSound && !wantsStillness()) playback.play();
  }, [playback, media?.kind, hasSound]);
  const result = media && (
    <MediaBox
      key={resultPart}
      kind={media.kind}
      url={media.url}
      label={t('see.resultOf', { prompt: job.prompt })}
      partKey={resultPart}
      playback={playback}
      zoom={zoom}
      clip={media.clip}
      onBroken={onBroken}
    />
  );
  const mediaOfPart = ({ role, kind, url, fileId }: SidePart) => (
    <MediaBox
      key={role}
      kind={kind}
      url={url}
      label={roleName(role)}
      partKey={role}
      playback={playback}
      zoom={zoom}
      clip={fileId === null && media !== null ? media.clip : null}
      // A plan without its frames is on its way or absent: the result's own number is the likeliest then.
      frames={frames.get(fileId ?? '') ?? playback.clip.value.frames}
      isByFrame
      onBroken={onBroken}
    />
  );
  const screen = useFullscreen();
  const laid = parts.find(({ role }) => role === under);
  return (
    <div ref={screen.ref} class="stack see-screen">
      {media && parts.length > 0 && <UnderChoice parts={parts} value={under} onChange={setUnder} />}
      {laid ? (
        <WipeFrame
          key={under}
          {...shape}
          zoom={zoom}
          under={mediaOfPart(laid)}
          over={result}
          words={t('see.wipeOver', { role: roleName(laid.role) })}
        />
      ) : (
        <div class={`see-stage see-stage-${Math.min(parts.length + (media === null ? 0 : 1), 5)}`}>
          {media && (
            <Tile label={t('see.result')} isNamed={parts.length > 0} {...shape}>
              {result}
            </Tile>
          )}
          {parts.map((part) => (
            <Tile key={part.role} label={roleName(part.role)} isNamed {...shape}>
              {mediaOfPart(part)}
            </Tile>
          ))}
        </div>
      )}
      {isClip ? <Transport playback={playback} hasSound={hasSound} screen={screen} /> : <ZoomButtons view={zoom} />}
    </div>
  );
}

interface UnderChoiceProps {
  readonly parts: readonly SidePart[];
  /** Role of the part that lies under the result; empty where all are beside each other. */
  readonly value: string;
  readonly onChange: (role: string) => void;
}

function UnderChoice({ parts, value, onChange }: UnderChoiceProps) {
  return (
    <Segmented
      label={t('see.compareMode')}
      isLabelHidden
      value={value}
      options={[
        { value: '', label: t('see.beside') },
        ...parts.map(({ role }) => ({ value: role, label: t('see.wipeWith', { role: roleName(role) }) })),
      ]}
      onChange={onChange}
    />
  );
}

interface TileProps {
  readonly label: string;
  readonly isNamed: boolean;
  readonly width: number;
  readonly height: number;
  readonly children: preact.ComponentChildren;
}

function Tile({ label, isNamed, width, height, children }: TileProps) {
  return (
    <div class="see-tile">
      <Frame width={width} height={height}>
        {children}
      </Frame>
      {isNamed && <p class="see-tile-name">{label}</p>}
    </div>
  );
}

/** Pictures are moved and zoomed by the keys that step through clips elsewhere. */
function useZoomKeys(zoom: Signal<ZoomView>, isOn: boolean): void {
  usePageKeys((event) => {
    if (!isOn || event.ctrlKey || event.altKey || event.metaKey) return false;
    const isMove = event.key.startsWith('Arrow');
    // A whole picture does not move: the keys scroll the page then.
    if (isMove && zoom.value.scale === 1) return false;
    const next = viewAfterKey(zoom.value, event.key);
    if (next !== null) zoom.value = next;
    return next !== null;
  });
}

/** What a role is called; its wire name where there is no word for it. */
export function roleName(role: string): string {
  return tMaybe(`see.role.${role}`) ?? role;
}
