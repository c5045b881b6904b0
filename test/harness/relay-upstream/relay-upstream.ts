import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';
import { RELAY_KEYS } from './identities.ts';
import { play } from './play.ts';
import { answerRealtime } from './realtime.ts';
import type { RealtimeSession } from './realtime.ts';
import { received } from './received.ts';
import type { Received } from './received.ts';
import { openai } from './openai.ts';
import { ROUTES } from './routes.ts';

/** The vendors of the synchronous routes, all at one address. play.ts has the words that steer an answer. */
export interface RelayUpstream {
  /** `host:port`. */
  readonly host: string;
  /** All received requests, oldest first. */
  readonly calls: readonly Received[];
  /** The requests with this `[mark:…]` in their text. Each test has its own mark. */
  marked(mark: string): readonly Received[];
  /** The realtime sessions and the refused handshakes, oldest first. */
  readonly sessions: readonly RealtimeSession[];
  stop(): Promise<void>;
}

export async function startRelayUpstream(address?: string): Promise<RelayUpstream> {
  const calls: Received[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = received(
      {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
      },
      await readWhole(request),
    );
    calls.push(asked);
    response.once('close', () => {
      asked.left = !response.writableFinished;
      asked.over = true;
    });
    const route = ROUTES.find(({ path }) => path.test(asked.path));
    if (route === undefined || asked.method !== 'POST') refuse(response, 404, asked);
    else if (!hasKey(asked)) refuse(response, 401, asked);
    else await play(response, asked, route.vendor, route.answer(asked));
  };
  const { server, host, stop } = await startTestServer((request, response) => {
    void answer(request, response).catch(() => request.socket.destroy());
  }, address);
  const sessions = answerRealtime(server);
  return {
    host,
    calls,
    sessions,
    marked: (mark) => calls.filter(({ words }) => words.text('mark') === mark),
    stop,
  };
}

/** Whether the request has its channel's credential in the header of that channel's vendor. */
function hasKey({ channel, headers }: Received): boolean {
  const key = RELAY_KEYS[channel];
  if (key === undefined) return false;
  return headers.authorization === `Bearer ${key}` || headers['x-api-key'] === key || headers['x-goog-api-key'] === key;
}

function refuse(response: ServerResponse, status: number, asked: Received): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(openai.error(status, asked)));
}
