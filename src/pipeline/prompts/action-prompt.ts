// Prompts of the action tasks: the JSON caption the networks were trained with, or plain sentences. Source: api spec, S.4,
// and the captions of the golden action cases.
import type { ViewPoint } from '../request.js';
import { exactLabel } from './aspect-labels.js';
import type { ClipFacts } from './json-prompt.js';
import { dumpJson, jsonArray, jsonFloat, jsonInteger, jsonObject, jsonString } from './python-json.js';
import { roundHalfEven, strip } from './python-text.js';

const viewSentences: Readonly<Record<ViewPoint, string>> = {
  ego_view: 'This video is captured from a first-person perspective looking at the scene.',
  third_person_view: 'This video is captured from a third-person perspective looking towards the agent from the front.',
  wrist_view: 'This video is captured from a wrist-mounted camera.',
  concat_view: 'This video contains concatenated views from multiple camera perspectives.',
};

const droidViews =
  'The top row is from the wrist-mounted camera. The bottom row contains two horizontally concatenated third-person perspective views of the scene from opposite sides, with the robot visible.';

/** What the camera sees: the sentence of the view point, for the joined cameras of DROID with their places. */
export function viewSentence(viewPoint: ViewPoint, isDroid: boolean): string {
  const sentence = viewSentences[viewPoint];
  return isDroid && viewPoint === 'concat_view' ? `${sentence} ${droidViews}` : sentence;
}

/**
 * The caption of an action clip: framing, what is done from start to end, duration in whole seconds (cut), fps, resolution
 * and aspect ratio of the canvas. The end time is rounded to seconds, halves to even. An empty prompt stays empty.
 */
export function actionCaption(prompt: string, view: string, { canvas, frames, fps }: ClipFacts): string {
  const text = strip(prompt);
  if (text === '') return '';
  const seconds = frames / fps;
  const end = roundHalfEven(seconds);
  const time = `0:00-${Math.floor(end / 60)}:${String(end % 60).padStart(2, '0')}`;
  const description = /[.!?]$/.test(text) ? text : `${text}.`;
  return dumpJson(
    jsonObject({
      cinematography: jsonObject({ framing: jsonString(view) }),
      actions: jsonArray([jsonObject({ time: jsonString(time), description: jsonString(description) })]),
      duration: jsonString(`${Math.trunc(seconds)}s`),
      fps: jsonFloat(fps),
      resolution: jsonObject({ H: jsonInteger(canvas.height), W: jsonInteger(canvas.width) }),
      aspect_ratio: jsonString(exactLabel(canvas)),
    }),
  );
}

/** A plain prompt with the sentence of its view behind it. */
export function withView(prompt: string, view: string): string {
  const text = strip(prompt);
  if (text === '') return view;
  return `${text}${text.endsWith('.') ? ' ' : '. '}${view}`;
}
