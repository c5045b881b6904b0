import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { errorText, IDENTITY_HEADERS, RELAY_KEYS } from './identities.ts';
import { openai } from './openai.ts';
import { received } from './received.ts';
import type { Received } from './received.ts';
import { piecesFor, usedBy } from './reply.ts';
import { Words } from './words.ts';

const PATH = '/v1/realtime';
const RETRY_AFTER_S = 7;

/** A realtime session as the upstream saw it. */
export interface RealtimeSession {
  readonly asked: Received;
  /** The received messages. A text message is a string. */
  readonly messages: readonly (string | Buffer)[];
  /** The number of pings. */
  pings: number;
  /** Set once the session has ended. */
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** Whether the system has taken all bytes that were sent to the session. */
  sentBytes: number;
}

/**
 * Behaves like OpenAI's realtime API. Words in the query steer the handshake: `[status:N]` refuses it, `[slow:MS]`
 * delays it, `[hang]` never answers it. The client's event `response.create` gets an answer, which words in its
 * instructions steer (`[never-done]`, `[no-usage]`, `[failed]`). `session.update` returns the session. `test.die` cuts
 * the connection, `test.close` closes it with `code` and `reason`, `test.error` sends an error, `test.flood` sends
 * `count` messages of `bytes` each. Every other event is echoed.
 */
export function answerRealtime(server: Server): readonly RealtimeSession[] {
  const sessions: RealtimeSession[] = [];
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 0,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  sockets.on('headers', (headers) => {
    for (const [name, value] of Object.entries(IDENTITY_HEADERS)) headers.push(`${name}: ${value}`);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    const asked = received(
      {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
      },
      Buffer.alloc(0),
    );
    const { words } = asked;
    const session: RealtimeSession = { asked, messages: [], pings: 0, closed: undefined, sentBytes: 0 };
    sessions.push(session);
    const status = asked.path === PATH ? words.number('status', hasKey(asked) ? 101 : 401) : 404;
    if (words.has('hang')) return;
    setTimeout(
      () => {
        if (status !== 101) refuse(socket, status, asked);
        else sockets.handleUpgrade(request, socket, head, (client) => converse(client, session));
      },
      words.number('slow', 0),
    ).unref();
  });
  return sessions;
}

function converse(client: WebSocket, session: RealtimeSession): void {
  const { model } = session.asked;
  const say = (event: object): void => client.send(JSON.stringify(event));
  client.on('error', () => undefined);
  client.on('ping', () => {
    session.pings += 1;
  });
  client.on('close', (code, reason) => {
    session.closed = { code, reason: reason.toString() };
  });
  client.on('message', (data: Buffer, isBinary) => {
    (session.messages as (string | Buffer)[]).push(isBinary ? data : data.toString());
    if (isBinary) client.send(data, { binary: true });
    else react(client, session, data.toString());
  });
  say({
    type: 'session.created',
    event_id: 'event_1',
    session: { id: 'sess_1', object: 'realtime.session', model, instructions: `not a member: "model":"${model}"` },
  });
}

interface TestEvent {
  readonly type: string;
  readonly session?: object;
  readonly response?: { readonly instructions?: string };
  readonly code?: number;
  readonly reason?: string;
  readonly count?: number;
  readonly bytes?: number;
}

function react(client: WebSocket, session: RealtimeSession, text: string): void {
  const event = JSON.parse(text) as TestEvent;
  const { model, channel } = session.asked;
  const say = (answer: object): void => client.send(JSON.stringify(answer));
  if (event.type === 'response.create')
    respond(say, { ...session.asked, words: new Words(event.response?.instructions ?? '', channel) });
  else if (event.type === 'session.update')
    say({ type: 'session.updated', event_id: 'event_2', session: event.session });
  else if (event.type === 'test.die') client.terminate();
  else if (event.type === 'test.close') client.close(event.code, event.reason);
  else if (event.type === 'test.error')
    say({
      type: 'error',
      event_id: 'event_3',
      error: { type: 'server_error', code: 'x', message: errorText(model, RELAY_KEYS[channel] ?? ''), param: null },
    });
  else if (event.type === 'test.flood') flood(client, session, event);
  else client.send(text);
}

function respond(say: (event: object) => void, asked: Received): void {
  const { input, output } = usedBy(asked);
  const { words, model } = asked;
  const id = `resp_${createHash('sha1').update(String(Math.random())).digest('hex').slice(0, 8)}`;
  say({
    type: 'response.created',
    event_id: 'event_4',
    response: { id, object: 'realtime.response', status: 'in_progress', model },
  });
  for (const delta of piecesFor(asked))
    say({
      type: 'response.output_text.delta',
      event_id: 'event_5',
      response_id: id,
      item_id: 'item_1',
      output_index: 0,
      content_index: 0,
      delta,
    });
  if (words.has('never-done')) return;
  const usage = {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_token_details: { cached_tokens: 0 },
  };
  const failure = {
    status_details: {
      type: 'failed',
      error: {
        type: 'server_error',
        code: 'rate_limit_exceeded',
        message: errorText(model, RELAY_KEYS[asked.channel] ?? ''),
      },
    },
  };
  say({
    type: 'response.done',
    event_id: 'event_6',
    response: {
      id,
      object: 'realtime.response',
      status: words.has('failed') ? 'failed' : 'completed',
      ...(words.has('failed') ? failure : {}),
      output: [],
      ...(words.has('no-usage') ? {} : { usage }),
    },
  });
}

/** Sends the messages as fast as the system takes them. */
function flood(client: WebSocket, session: RealtimeSession, { count = 0, bytes = 0 }: TestEvent): void {
  const message = Buffer.alloc(bytes, 0x61);
  let sent = 0;
  const next = (): void => {
    if (sent === count || client.readyState !== client.OPEN) return;
    sent += 1;
    client.send(message, { binary: true }, () => {
      session.sentBytes += bytes;
      next();
    });
  };
  next();
}

function hasKey({ channel, headers }: Received): boolean {
  const key = RELAY_KEYS[channel];
  return key !== undefined && headers.authorization === `Bearer ${key}`;
}

function refuse(socket: Duplex, status: number, asked: Received): void {
  const body = JSON.stringify(openai.error(status, asked));
  const headers = {
    ...IDENTITY_HEADERS,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'retry-after': String(RETRY_AFTER_S),
    connection: 'close',
  };
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${body}`,
  );
}
