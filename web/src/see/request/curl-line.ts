// A job's request as a curl command that waits for the result and writes it into a file.
import { isNamed, needsKey, type RepeatableJob, repeatForm, resultName } from './repeat-form.js';
import { commandOf, quoteWord } from './shell-quote.js';

/** The shell variable that the command takes a key from. */
export const keyVariable = 'ORRERY_API_KEY';

/**
 * The command. Inputs are named by the id under which the server keeps them with the job.
 * @param baseUrl as http://127.0.0.1:8000, without a slash at the end
 */
export function curlLine(job: RepeatableJob, baseUrl: string): string {
  const form = repeatForm(job);
  const { path, body, hasFile } = routeOf(job, form);
  return commandOf([
    `curl -sS --fail-with-body ${quoteWord(`${baseUrl}${path}`)}`,
    ...keyParts(job),
    "-H 'Content-Type: application/json'",
    `-d ${quoteWord(JSON.stringify(body))}`,
    ...(hasFile ? [`-o ${quoteWord(resultName(job))}`] : []),
  ]);
}

/** The header with the key, where the server asks for one. */
export function keyParts(job: Pick<RepeatableJob, 'artifacts'>): readonly string[] {
  return needsKey(job) ? [`-H "Authorization: Bearer $${keyVariable}"`] : [];
}

/** Whether the command writes the result into a file; else it prints the job that it has made. */
export function waitsForResult(job: RepeatableJob): boolean {
  return routeOf(job, repeatForm(job)).hasFile;
}

function routeOf(job: RepeatableJob, form: Readonly<Record<string, unknown>>) {
  if (job.kind === 'image') {
    return { path: '/v1/images/generations', body: { ...form, response_format: 'file' }, hasFile: true };
  }
  // A job without a clip has nothing to send on the line; its record has the actions.
  const extra = isNamed(form.extra_params) ? form.extra_params : {};
  const isClip = extra.actions_only !== true && form.actions_only !== true;
  return isClip
    ? { path: '/v1/videos/sync', body: form, hasFile: true }
    : { path: '/v1/jobs', body: form, hasFile: false };
}
