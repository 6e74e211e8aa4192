// Pictures through the chat interface: the words of the user are the prompt.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ChatRequest, ChatResponse, RequestError } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import { RequestBody } from '../bodies/request-body.js';
import { goneSignal } from '../jobs/await-job.js';
import { readImageForm } from '../requests/read-image-form.js';
import { sendFailure } from '../respond.js';
import type { ServerContext } from '../server-context.js';
import { documented } from './documented.js';
import { makePictures } from './images.js';
import { receiveBody } from './request-body.js';
import { describeEnd } from './video-sync.js';
import { tellIgnored } from './videos.js';

/** Members of a chat request that have no meaning for a picture. */
const chatMembers = [
  ...[
    'messages',
    'extra_body',
    'stream',
    'temperature',
    'top_p',
    'top_k',
    'max_tokens',
    'max_completion_tokens',
    'stop',
    'n',
    'user',
  ],
  ...[
    'frequency_penalty',
    'presence_penalty',
    'logprobs',
    'top_logprobs',
    'tools',
    'tool_choice',
    'modalities',
    'response_format',
  ],
];

/** Adds the route. */
export function addChatRoute(app: FastifyInstance, context: ServerContext): void {
  const schema = documented({
    summary: 'Makes a picture from the words of a chat',
    tags: ['Images'],
    body: ChatRequest,
    consumes: ['application/json'],
    reply: ChatResponse,
    errors: [400, 401, 429, 500, 503, 504],
  });
  app.post('/v1/chat/completions', { schema }, async (request, reply) => {
    const gone = goneSignal(reply);
    await using body = await receiveBody(request, context);
    const { values } = body;
    if (values.stream === true)
      throw new RequestError('unsupported', 'stream', 'stream: pictures come whole; leave it out.');
    const { prompt, hasImage } = readMessages(values.messages);
    const form = readImageForm(pictureBody(values, prompt));
    tellIgnored(reply, [...form.ignored, ...(hasImage ? ['image_url'] : [])]);
    const made = await makePictures(context, form, { request, signal: gone });
    if (made.failed !== null) return sendFailure(request, reply, describeEnd(made.failed, 'Image generation failed'));
    const words = prompt.split(/\s+/).filter(Boolean).length;
    const answer: ChatResponse = {
      id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1000),
      model: typeof values.model === 'string' ? values.model : context.modelNames[0],
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: made.pictures.map(({ bytes }) => ({
              type: 'image_url',
              image_url: { url: `data:image/${form.format};base64,${Buffer.from(bytes).toString('base64')}` },
            })),
          },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: words, completion_tokens: 1, total_tokens: words + 1 },
    };
    return answer;
  });
}

/** The parameters of a chat as the body of a picture request. */
function pictureBody(values: Readonly<Record<string, unknown>>, prompt: string): RequestBody {
  const extra = isRecord(values.extra_body) ? values.extra_body : {};
  const {
    num_outputs_per_prompt: count,
    num_frames: _frames,
    ...params
  } = {
    ...Object.fromEntries(Object.entries(values).filter(([name]) => !chatMembers.includes(name))),
    ...extra,
  };
  return new RequestBody({ ...params, prompt, ...(count === undefined ? {} : { n: count }) }, [], false);
}

/** The user's words, joined by spaces. */
function readMessages(messages: unknown): { readonly prompt: string; readonly hasImage: boolean } {
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const parts = list
    .filter(isRecord)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }): readonly unknown[] => (Array.isArray(content) ? content : [content]));
  const texts = parts.flatMap((part) => {
    const text: unknown = isRecord(part) ? part.text : part;
    return typeof text === 'string' && text.trim() !== '' ? [text] : [];
  });
  if (texts.length === 0) throw new RequestError('missing_parameter', 'messages', 'No text prompt found in messages');
  return { prompt: texts.join(' '), hasImage: parts.some((part) => isRecord(part) && part.type === 'image_url') };
}
