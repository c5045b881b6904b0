import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** A request as the upstream received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Reply = (request: SeenRequest, response: ServerResponse) => void;

/** Has what every endpoint with JSON answers is called for. */
export const DELIVERED = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'made' }, finish_reason: 'stop' }],
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'made' }] }],
  content: [{ type: 'text', text: 'made' }],
  candidates: [{ content: { parts: [{ text: 'made' }] }, finishReason: 'STOP' }],
  data: [{ embedding: [0.5], b64_json: 'AAAA' }],
  results: [{ index: 0, relevance_score: 0.5 }],
  text: 'made',
  input_tokens: 1,
} as const;

/** A real HTTP server with scripted answers. It records its requests. */
export interface RelayUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** The probes of the gateway, which read the list of models. */
  readonly probes: SeenRequest[];
  /** The answers whose client left before their end. */
  readonly left: () => number;
  reply: Reply;
  replyToProbe: Reply;
  stop(): Promise<void>;
}

export async function startRelayUpstream(reply: Reply = json(DELIVERED)): Promise<RelayUpstream> {
  let left = 0;
  const seen: SeenRequest[] = [];
  const probes: SeenRequest[] = [];
  const { url, stop } = await startTestServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) left += 1;
    });
    void readWhole(request).then(
      (body) => {
        const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
        const isProbe = one.method === 'GET' && one.url.endsWith('/models');
        (isProbe ? probes : seen).push(one);
        (isProbe ? upstream.replyToProbe : upstream.reply)(one, response);
      },
      () => undefined,
    );
  });
  const replyToProbe = json({ data: [] });
  const upstream: RelayUpstream = { url, seen, probes, reply, replyToProbe, left: () => left, stop };
  return upstream;
}

export function json(value: unknown, status = 200, headers: Record<string, string | string[]> = {}): Reply {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };
}

/** Writes each event on its own, and then ends. */
export function events(frames: readonly string[], headers: Record<string, string> = {}): Reply {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    for (const frame of frames) response.write(frame);
    response.end();
  };
}
