// Playback of one clip or of several in step: a state that controls read and change, and the video elements that follow it.
import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { type Clip, correctionOf, durationOf, frameAt, longestOf, stepFrame, timeOf } from './frame-maths.js';
import { changeVolume, nextSpeed, type PlayerCommand } from './key-commands.js';
import { type PlayedVideo, watchFrames } from './watch-frames.js';

/** A video element that takes part. */
export interface Part {
  /** Names it among the parts, for `heard`. */
  readonly key: string;
  readonly video: PlayedVideo;
  readonly clip: Clip;
  /** Runs frame by frame with the others, whatever its own frames per second are. */
  readonly isByFrame?: boolean | undefined;
}

/** What controls read and change. */
export interface Playback {
  /** The longest clip; its frames are what is counted. */
  readonly clip: ReadonlySignal<Clip>;
  readonly frame: ReadonlySignal<number>;
  readonly isPlaying: ReadonlySignal<boolean>;
  /** Something is there that can play. */
  readonly canPlay: ReadonlySignal<boolean>;
  readonly loops: Signal<boolean>;
  /** Multiple of the clip's own speed. */
  readonly speed: Signal<number>;
  readonly isMuted: Signal<boolean>;
  /** 0 … 1. */
  readonly volume: Signal<number>;
  /** Key of the one part whose sound is heard. */
  readonly heard: Signal<string>;
  /** Takes a video in. Returns how to let it go. */
  attach(part: Part): () => void;
  /** The video of a part; undefined where it does not take part. */
  videoOf(key: string): PlayedVideo | undefined;
  play(): void;
  pause(): void;
  seekFrame(frame: number): void;
  run(command: PlayerCommand): void;
  /** Lets all go. */
  close(): void;
}

/**
 * Makes a playback that stands at the first frame.
 * @param first clip that is counted until a part is there
 */
export function createPlayback(first: Clip, heardFirst = ''): Playback {
  const parts = signal<readonly Part[]>([]);
  const clip = computed(
    () => longestOf(parts.value.filter((part) => !part.isByFrame).map((part) => part.clip)) ?? first,
  );
  const seconds = signal(timeOf(0, first));
  const frame = computed(() => frameAt(seconds.value, clip.value));
  const isPlaying = signal(false);
  const canPlay = computed(() => parts.value.length > 0);
  const loops = signal(true);
  const speed = signal(1);
  const isMuted = signal(false);
  const volume = signal(1);
  const heard = signal(heardFirst);

  const leader = () => parts.value.find((part) => part.clip === clip.value) ?? parts.value[0];
  const stretchOf = (part: Part) => (part.isByFrame ? clip.value.fps / part.clip.fps : 1);
  /** Brings a part to where the playback stands. */
  const place = (part: Part, isRunning: boolean) => {
    const wanted = correctionOf(seconds.value * stretchOf(part), part.video.currentTime, part.clip, isRunning);
    if (wanted !== null) part.video.currentTime = wanted;
  };
  const placeAll = () => {
    for (const part of parts.value) place(part, false);
  };
  const start = (part: Part) => {
    const isOver = seconds.value * stretchOf(part) >= durationOf(part.clip);
    if (!isOver && part.video.paused) part.video.play().catch(() => part === leader() && pause());
  };
  const play = () => {
    if (frame.value >= clip.value.frames - 1) seekFrame(0);
    isPlaying.value = true;
    for (const part of parts.value) start(part);
  };
  const pause = () => {
    if (!isPlaying.value) return;
    isPlaying.value = false;
    for (const { video } of parts.value) video.pause();
    // Elements stop anywhere inside a frame, each of them elsewhere.
    seekFrame(frame.value);
  };
  const seekFrame = (wanted: number) => {
    seconds.value = timeOf(wanted, clip.value);
    placeAll();
  };
  const reachEnd = () => {
    if (!isPlaying.value) return;
    if (!loops.value) return pause();
    seekFrame(0);
    for (const part of parts.value) start(part);
  };
  const hearTime = (part: Part, time: number) => {
    if (!isPlaying.value || part !== leader() || part.video.seeking) return;
    seconds.value = time;
    for (const other of parts.value) if (other !== part) place(other, true);
  };
  const stopSettings = effect(() => {
    for (const part of parts.value) {
      part.video.playbackRate = speed.value * stretchOf(part);
      part.video.muted = isMuted.value || part.key !== heard.value;
      part.video.volume = volume.value;
    }
  });

  const run = (command: PlayerCommand) => {
    switch (command.kind) {
      case 'toggle':
        if (isPlaying.value) pause();
        else if (canPlay.value) play();
        return;
      case 'step':
        pause();
        return seekFrame(stepFrame(frame.value, command.by, clip.value, loops.value));
      case 'start':
        return seekFrame(0);
      case 'end':
        pause();
        return seekFrame(clip.value.frames - 1);
      case 'loop':
        loops.value = !loops.value;
        return;
      case 'mute':
        isMuted.value = !isMuted.value;
        return;
      case 'speed':
        speed.value = nextSpeed(speed.value, command.by);
        return;
      case 'volume':
        volume.value = changeVolume(volume.value, command.by);
        isMuted.value = false;
        return;
      default:
        return command satisfies never;
    }
  };

  return {
    clip,
    frame,
    isPlaying,
    canPlay,
    loops,
    speed,
    isMuted,
    volume,
    heard,
    attach: (part) => {
      parts.value = [...parts.value, part];
      const stopWatching = watchFrames(part.video, {
        onTime: (time) => hearTime(part, time),
        onReady: () => {
          place(part, isPlaying.value);
          if (isPlaying.value) start(part);
        },
        onEnded: () => part === leader() && reachEnd(),
      });
      return () => {
        stopWatching();
        parts.value = parts.value.filter((other) => other !== part);
      };
    },
    videoOf: (key) => parts.value.find((part) => part.key === key)?.video,
    play,
    pause,
    seekFrame,
    run,
    close: () => {
      isPlaying.value = false;
      for (const { video } of parts.value) video.pause();
      parts.value = [];
      stopSettings();
    },
  };
}
