import { describe, expect, it } from 'vitest';
import { createPlayback, type Playback } from './playback.js';
import type { PlayedVideo } from './watch-frames.js';

/** A video element that plays when it is told to. */
class FakeVideo extends EventTarget implements PlayedVideo {
  currentTime = 0;
  paused = true;
  seeking = false;
  playbackRate = 1;
  muted = true;
  volume = 1;
  readyState = 4;
  seeks = 0;
  #tell: VideoFrameRequestCallback | null = null;

  async play() {
    this.paused = false;
  }

  pause() {
    this.paused = true;
  }

  requestVideoFrameCallback(tell: VideoFrameRequestCallback) {
    this.#tell = tell;
    return 1;
  }

  cancelVideoFrameCallback() {
    this.#tell = null;
  }

  /** Shows the frame that begins at `time`. */
  show(time: number) {
    this.currentTime = time;
    this.#tell?.(0, {
      mediaTime: time,
      expectedDisplayTime: 0,
      height: 1,
      width: 1,
      presentationTime: 0,
      presentedFrames: 1,
    });
  }

  get isWatched() {
    return this.#tell !== null;
  }
}

const clip = { frames: 24, fps: 8 };

function attach(playback: Playback, key: string, change: object = {}) {
  const video = new FakeVideo();
  const detach = playback.attach({ key, video, clip, ...change });
  return { video, detach };
}

describe('createPlayback', () => {
  it('steps to the middle of frames, in all parts', () => {
    const playback = createPlayback(clip);
    const [a, b] = [attach(playback, 'a'), attach(playback, 'b')];
    playback.run({ kind: 'step', by: 3 });
    expect(playback.frame.value).toBe(3);
    expect([a.video.currentTime, b.video.currentTime]).toEqual([3.5 / 8, 3.5 / 8]);
    playback.run({ kind: 'step', by: -4 });
    expect(playback.frame.value).toBe(23);
    playback.loops.value = false;
    playback.run({ kind: 'step', by: 1 });
    expect(playback.frame.value).toBe(23);
  });

  it('follows the leader while it plays, and stops all at one frame', () => {
    const playback = createPlayback(clip);
    const [a, b] = [attach(playback, 'a'), attach(playback, 'b')];
    a.video.show(1);
    expect(playback.frame.value).toBe(0);
    playback.play();
    expect([a.video.paused, b.video.paused]).toEqual([false, false]);
    b.video.currentTime = 0.9;
    a.video.show(1);
    expect([playback.frame.value, b.video.currentTime]).toEqual([8, 0.9]);
    a.video.show(1.5);
    expect(b.video.currentTime).toBe(12.5 / 8);
    a.video.currentTime = 1.6;
    playback.pause();
    expect([a.video.paused, b.video.paused]).toEqual([true, true]);
    expect([a.video.currentTime, b.video.currentTime]).toEqual([1.6, 12.5 / 8]);
    expect(playback.frame.value).toBe(12);
  });

  it('begins again at the end when it loops, and stops there when it does not', () => {
    const playback = createPlayback(clip);
    const { video } = attach(playback, 'a');
    playback.play();
    video.show(23 / 8);
    video.paused = true;
    video.dispatchEvent(new Event('ended'));
    expect([playback.isPlaying.value, playback.frame.value, video.paused]).toEqual([true, 0, false]);
    playback.loops.value = false;
    video.show(23 / 8);
    video.dispatchEvent(new Event('ended'));
    expect([playback.isPlaying.value, playback.frame.value]).toEqual([false, 23]);
    playback.run({ kind: 'toggle' });
    expect([playback.isPlaying.value, playback.frame.value]).toEqual([true, 0]);
  });

  it('counts the longest clip and runs others by time or by frame', () => {
    const playback = createPlayback(clip);
    attach(playback, 'result');
    const byTime = attach(playback, 'other', { clip: { frames: 10, fps: 10 } });
    const byFrame = attach(playback, 'input', { clip: { frames: 24, fps: 24 }, isByFrame: true });
    playback.seekFrame(12);
    expect(playback.clip.value).toEqual(clip);
    // 12.5 / 8 s lies behind the end of the second; the third shows its own frame 12.
    expect(byTime.video.currentTime).toBe(9.5 / 10);
    expect(byFrame.video.currentTime).toBe(12.5 / 24);
    expect(byFrame.video.playbackRate).toBeCloseTo(8 / 24, 12);
    playback.speed.value = 0.5;
    expect([byTime.video.playbackRate, byFrame.video.playbackRate]).toEqual([0.5, 4 / 24]);
  });

  it('is heard from one part alone', () => {
    const playback = createPlayback(clip, 'a');
    const [a, b] = [attach(playback, 'a'), attach(playback, 'b')];
    expect([a.video.muted, b.video.muted]).toEqual([false, true]);
    playback.heard.value = 'b';
    expect([a.video.muted, b.video.muted]).toEqual([true, false]);
    playback.run({ kind: 'mute' });
    expect(b.video.muted).toBe(true);
    playback.run({ kind: 'volume', by: -0.3 });
    expect([b.video.muted, b.video.volume]).toEqual([false, 0.7]);
  });

  it('lets parts go', () => {
    const playback = createPlayback(clip, 'a');
    const { video, detach } = attach(playback, 'a');
    detach();
    expect(video.isWatched).toBe(false);
    playback.seekFrame(5);
    expect(video.currentTime).toBe(0);
    const second = attach(playback, 'a');
    playback.play();
    playback.close();
    expect([second.video.paused, playback.isPlaying.value]).toEqual([true, false]);
  });
});
