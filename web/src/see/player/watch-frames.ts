// When a video element shows which moment.

/** What a playback needs of a video element. */
export type PlayedVideo = EventTarget &
  Pick<
    HTMLVideoElement,
    | 'currentTime'
    | 'paused'
    | 'seeking'
    | 'playbackRate'
    | 'muted'
    | 'volume'
    | 'readyState'
    | 'play'
    | 'pause'
    | 'requestVideoFrameCallback'
    | 'cancelVideoFrameCallback'
  >;

/** HAVE_CURRENT_DATA of media elements: a frame is there to be shown. */
const hasFrame = 2;

/** What is told of a video. */
export interface FrameListener {
  /** The moment that is shown, in seconds; for each frame while it plays. */
  readonly onTime: (seconds: number) => void;
  /** Its first frame can be shown. */
  readonly onReady: () => void;
  readonly onEnded: () => void;
}

/** Watches a video. Returns how to stop. */
export function watchFrames(video: PlayedVideo, { onTime, onReady, onEnded }: FrameListener): () => void {
  const abort = new AbortController();
  const { signal } = abort;
  video.addEventListener('loadeddata', onReady, { signal });
  video.addEventListener('ended', onEnded, { signal });
  if (video.readyState >= hasFrame) onReady();
  const stopTimes =
    typeof video.requestVideoFrameCallback === 'function' ? watchShown(video, onTime) : watchClock(video, onTime);
  return () => {
    abort.abort();
    stopTimes();
  };
}

function watchShown(video: PlayedVideo, onTime: (seconds: number) => void): () => void {
  let handle = video.requestVideoFrameCallback(function tell(_now, { mediaTime }) {
    onTime(mediaTime);
    handle = video.requestVideoFrameCallback(tell);
  });
  return () => video.cancelVideoFrameCallback(handle);
}

/** For browsers that do not tell frames: the clock of the element, looked at for each frame of the screen. */
function watchClock(video: PlayedVideo, onTime: (seconds: number) => void): () => void {
  let handle = requestAnimationFrame(function look() {
    if (!video.paused) onTime(video.currentTime);
    handle = requestAnimationFrame(look);
  });
  return () => cancelAnimationFrame(handle);
}
