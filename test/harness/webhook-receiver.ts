import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** A request that the receiver has got. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly at: number;
}

/** A client's own server, which hears of its events. Each path is a receiver. */
export interface WebhookReceiver {
  /** `host:port`, for `webhooks.allow`. */
  readonly host: string;
  readonly requests: readonly Received[];
  url(path: string): string;
  at(path: string): readonly Received[];
  /**
   * Answers later requests at a path with this status, after a time; `hang`: with nothing. Others are answered with 204.
   */
  answer(path: string, how: number | 'hang', more?: { readonly afterMs?: number; readonly retryAfter?: number }): void;
  stop(): Promise<void>;
}

interface Answered {
  readonly how: number | 'hang';
  readonly afterMs?: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: Received[] = [];
  const answers = new Map<string, Answered>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    );
    const body = (await readWhole(request)).toString('utf8');
    requests.push({ path, headers, body, at: performance.now() });
    const { how, afterMs = 0, retryAfter } = answers.get(path) ?? { how: 204 };
    if (afterMs > 0) await wait(afterMs);
    if (how === 'hang') return;
    if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
    response.writeHead(how).end();
  };
  const server = await startTestServer((request, response) => {
    void receive(request, response).catch(() => response.destroy());
  });
  return {
    host: server.host,
    requests,
    url: (path) => `${server.url}${path}`,
    at: (path) => requests.filter((request) => request.path === path),
    answer: (path, how, more = {}) => void answers.set(path, { how, ...more }),
    stop: () => server.stop(),
  };
}
