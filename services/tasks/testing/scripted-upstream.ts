import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** What the upstream does with a request after it has read all of it. */
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
  /** Undefined if there was none. A form is its parts, a file in it its name, type and base64. */
  readonly body: unknown;
}

/** A real HTTP server on a free port that answers from the script of the test and keeps the requests. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  script(...answers: readonly ScriptedAnswer[]): void;
  close(): Promise<void>;
}

const PIECE = 'x'.repeat(256 * 1024);

export async function openScriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: ReceivedRequest[] = [];
  const answers: ScriptedAnswer[] = [];
  const { url, stop } = await startTestServer((request, response) => {
    void read(request).then((body) => {
      requests.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
      answer(response, answers.shift() ?? { status: 500, text: 'nothing was scripted' });
    });
  });
  return {
    url,
    requests,
    script: (...more) => {
      answers.splice(0, answers.length, ...more);
      requests.length = 0;
    },
    close: stop,
  };
}

async function read(request: IncomingMessage): Promise<unknown> {
  const body = await readWhole(request);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('multipart/'))
    return readForm(await new Response(body, { headers: { 'content-type': type } }).formData());
  return body.length === 0 ? undefined : (JSON.parse(body.toString('utf8')) as unknown);
}

async function readForm(form: FormData): Promise<object> {
  const parts = await Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string'
        ? value
        : { name: value.name, type: value.type, base64: Buffer.from(await value.arrayBuffer()).toString('base64') },
    ]),
  );
  return { form: parts };
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
