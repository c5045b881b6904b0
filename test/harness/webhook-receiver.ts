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
  answer(path: string, how: number | 'hang', afterMs?: number): void;
  stop(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const requests: Received[] = [];
  const answers = new Map<string, { readonly how: number | 'hang'; readonly afterMs: number }>();
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    );
    const body = (await readWhole(request)).toString('utf8');
    requests.push({ path, headers, body, at: performance.now() });
    const { how, afterMs } = answers.get(path) ?? { how: 204, afterMs: 0 };
    if (afterMs > 0) await wait(afterMs);
    if (how !== 'hang') response.writeHead(how).end();
  };
  const server = await startTestServer((request, response) => {
    void receive(request, response).catch(() => response.destroy());
  });
  return {
    host: server.host,
    requests,
    url: (path) => `${server.url}${path}`,
    at: (path) => requests.filter((request) => request.path === path),
    answer: (path, how, afterMs = 0) => void answers.set(path, { how, afterMs }),
    stop: () => server.stop(),
  };
}
