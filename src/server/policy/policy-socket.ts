// The robot socket: OpenPI's protocol over WebSocket. Source: api spec, 3.5.
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import { RequestError } from '../../protocol/index.js';
import { isRecord } from '../bodies/json-text.js';
import type { Logger } from '../operation/logging.js';
import { ownerOf } from '../owner.js';
import type { ServerContext } from '../server-context.js';
import { type ArrayForm, MessageError, packMessage, unpackMessage } from './msgpack-numpy.js';
import { PolicySession } from './policy-session.js';

const address = '/v1/realtime/robot/openpi';
const mostBytes = 64 * 2 ** 20;
/** Messages of one robot that may wait; more closes the socket. */
const mostWaiting = 8;

/** Adds the socket. */
export async function addPolicySocket(app: FastifyInstance, context: ServerContext, log: Logger): Promise<void> {
  await app.register(websocket, { options: { maxPayload: mostBytes, perMessageDeflate: false } });
  await app.register(async (routes) => {
    routes.get(address, { websocket: true, schema: { hide: true } }, (socket, request) => {
      const config = context.settings.policyServer ?? context.planner.describe().policyServer;
      if (config === null) {
        socket.send(JSON.stringify({ type: 'error', error: 'Robot policy not available', code: 'unsupported' }));
        socket.close(1008, 'unsupported');
        return;
      }
      new PolicyConnection(socket, {
        context,
        config,
        owner: ownerOf(request),
        log: log.child({ request_id: request.id }),
      }).open();
    });
  });
}

interface ConnectionParts {
  readonly context: ServerContext;
  readonly config: Readonly<Record<string, unknown>>;
  readonly owner: string;
  readonly log: Logger;
}

/** One connection: messages are answered one after the other, in their order. */
class PolicyConnection {
  readonly #socket: WebSocket;
  readonly #parts: ConnectionParts;
  readonly #gone = new AbortController();
  readonly #session: PolicySession;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    const { context, config, owner } = parts;
    this.#session = new PolicySession(context, { config, owner, gone: this.#gone.signal });
  }

  open(): void {
    const socket = this.#socket;
    socket.on('close', () => {
      clearTimeout(this.#idle);
      this.#gone.abort(new Error('the robot has left'));
    });
    socket.on('error', (error) => this.#parts.log.info({ err: error }, 'robot socket broke off'));
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.send(packMessage(this.#parts.config, 'openpi'));
    this.#rest();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const bytes = toBytes(data);
    if (!isBinary || bytes.length === 0) return;
    if (++this.#waiting > mostWaiting) {
      this.#socket.close(1013, 'too many messages wait for an answer');
      return;
    }
    clearTimeout(this.#idle);
    this.#last = this.#last.then(async () => {
      const reply = await this.#reply(bytes);
      this.#waiting--;
      if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(reply);
      if (this.#waiting === 0) this.#rest();
    });
  }

  async #reply(bytes: Uint8Array): Promise<Buffer> {
    let form: ArrayForm = 'openpi';
    try {
      const message = unpackMessage(bytes);
      form = message.form;
      if (!isRecord(message.value)) throw new MessageError('the message is no map');
      return packMessage(await this.#session.answer(message.value), form);
    } catch (error) {
      const isTheirs =
        error instanceof MessageError || (error instanceof RequestError && error.code !== 'internal_error');
      if (!this.#gone.signal.aborted) {
        this.#parts.log[isTheirs ? 'info' : 'error']({ err: error }, 'robot request failed');
      }
      const message = isTheirs ? 'Invalid request payload' : 'Internal inference error';
      const detail = isTheirs && error instanceof Error ? { detail: error.message } : {};
      return packMessage({ type: 'error', message, ...detail }, form);
    }
  }

  /** Closes a socket that stays silent. */
  #rest(): void {
    const { openpiIdleSeconds } = this.#parts.context.settings;
    clearTimeout(this.#idle);
    if (openpiIdleSeconds <= 0) return;
    this.#idle = setTimeout(() => this.#socket.close(1000, 'idle'), openpiIdleSeconds * 1000);
    this.#idle.unref();
  }
}

function toBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
