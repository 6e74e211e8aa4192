// A job's request as a JavaScript module for Node, with the package's own client.
import { keyVariable } from './curl-line.js';
import { literalOf, stringLiteral } from './literal.js';
import { needsKey, type RepeatableJob, repeatForm, resultName } from './repeat-form.js';

/**
 * The module. Inputs are named by the id under which the server keeps them with the job.
 * @param baseUrl as http://127.0.0.1:8000
 */
export function javascriptLine(job: RepeatableJob, baseUrl: string): string {
  const key = needsKey(job) ? `, apiKey: process.env.${keyVariable}` : '';
  return `import { writeFile } from 'node:fs/promises';
import { createClient } from 'orrery/protocol';

const client = createClient({ baseUrl: ${stringLiteral(baseUrl)}${key} });
const job = await client.createJob(${literalOf(repeatForm(job))});
for await (const { event, data } of client.events(job.id)) {
  if (event === 'progress') console.log(\`step \${data.progress.step} of \${data.progress.steps}\`);
}
${keepResult(job)}
`;
}

function keepResult(job: RepeatableJob): string {
  const main = job.artifacts.some(({ variant }) => variant === job.kind) ? job.kind : 'action';
  return `const content = await client.jobContent(job.id, ${stringLiteral(main)});
await writeFile(${stringLiteral(resultName(job))}, new Uint8Array(await content.arrayBuffer()));`;
}
