import { listTokenAndMakers } from '../../clients/billing-client.ts';
import { requirePrincipal } from '../../http/exchange.ts';
import { SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleDoc } from '../console-doc.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import { followAccount } from './follow-changes.ts';
import type { FollowParts } from './follow-changes.ts';
import { serveStream } from './serve-stream.ts';
import type { StreamParts } from './serve-stream.ts';
import { CLIENT_TOPICS, readTopics } from './topics.ts';

interface Parts extends StreamParts, FollowParts {
  readonly principals: Principals;
}

/** `GET /stream` of the public port: what changes in the account of the token that is signed in. */
export function clientStreamRoute(parts: Parts, sessions: ClientSessions): RouteEntry {
  return {
    kind: 'console',
    methods: ['GET'],
    path: '/console/api/stream',
    token: { counts: 'console', from: 'session' },
    handle: async (exchange) => {
      const topics = readTopics(new URLSearchParams(exchange.querystring), CLIENT_TOPICS);
      const principal = requirePrincipal(exchange);
      const [own, ...makers] = listTokenAndMakers(principal);
      const { requestId, source } = exchange.state;
      await serveStream(parts, exchange, {
        holders: [`token ${own}`, ...makers.map((id) => `token ${id}`)],
        topics,
        follow: (following) => {
          followAccount(parts, principal.accountId, following);
        },
        mayGoOn: async () => {
          const token = await sessions.tokenOf(exchange);
          await parts.principals.of(token, { requestId, source, freshMs: SESSION_FRESH_MS });
        },
      });
    },
    doc: consoleDoc('streamConsole', 'Hear what changes'),
  };
}
