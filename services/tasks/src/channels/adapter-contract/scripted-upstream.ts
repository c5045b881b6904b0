import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The act of the upstream after it has read all of a request. */
export type ScriptedAnswer =
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly json?: unknown;
      readonly text?: string;
    }
  /** Never answers; closes the connection; closes it after half an answer; answers without end. */
  | 'hang'
  | 'reset'
  | 'cut'
  | 'endless';

export interface ReceivedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Undefined if there was no body. A form is its parts, and a file in it its name, type and base64. */
  readonly body: unknown;
}

/** A real HTTP server on a free port that answers from the script of the test and keeps the requests. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Replaces the answers, and forgets the requests. */
  script(...answers: readonly ScriptedAnswer[]): void;
  /** Resolves as soon as a request is among `requests`. */
  waitForRequest(): Promise<void>;
  close(): Promise<void>;
}

const PIECE = 'x'.repeat(256 * 1024);
const REQUEST_BYTES_MAX = 64 * 1024 * 1024;
const LOOPBACK = '127.0.0.1';

export async function openScriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: ReceivedRequest[] = [];
  const answers: ScriptedAnswer[] = [];
  let arrival = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    read(request).then(
      (body) => {
        requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
        answer(response, answers.shift() ?? { status: 500, text: 'nothing was scripted' });
        arrival.resolve(undefined);
      },
      () => request.socket.destroy(),
    );
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    requests,
    script: (...more) => {
      answers.splice(0, answers.length, ...more);
      requests.length = 0;
      arrival = Promise.withResolvers();
    },
    waitForRequest: async () => {
      await arrival.promise;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function read(request: IncomingMessage): Promise<unknown> {
  const body = await readWhole(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/')) return readForm(body, type);
  return body.length === 0 ? undefined : (JSON.parse(body.toString('utf8')) as unknown);
}

async function readWhole(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > REQUEST_BYTES_MAX) throw new Error('the request is too long');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The parts of a form, in which no content holds the boundary. */
function readForm(body: Buffer, type: string): object {
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(type) ?? [];
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return { form: parts.map(readPart) };
}

function readPart(part: string): readonly unknown[] {
  const end = part.indexOf('\r\n\r\n');
  const head = Buffer.from(part.slice(0, end), 'latin1').toString('utf8');
  const content = Buffer.from(part.slice(end + 4, -2), 'latin1');
  const [, name] = /[; ]name="([^"]*)"/.exec(head) ?? [];
  const [, fileName] = /filename="([^"]*)"/.exec(head) ?? [];
  const [, type = ''] = /^content-type: *(\S+)/im.exec(head) ?? [];
  return [
    name,
    fileName === undefined ? content.toString('utf8') : { name: fileName, type, base64: content.toString('base64') },
  ];
}

function answer(response: ServerResponse, scripted: ScriptedAnswer): void {
  if (scripted === 'hang') return;
  if (scripted === 'reset') {
    response.socket?.resetAndDestroy();
  } else if (scripted === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"task_id":"4240', () => response.socket?.destroy());
  } else if (scripted === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      if (!response.destroyed) response.write(PIECE, more);
    };
    more();
  } else {
    const type = scripted.text === undefined ? 'application/json' : 'text/html';
    response
      .writeHead(scripted.status, { 'content-type': type, ...scripted.headers })
      .end(scripted.text ?? JSON.stringify(scripted.json));
  }
}
