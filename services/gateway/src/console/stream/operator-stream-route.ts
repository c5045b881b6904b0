import { consoleDoc } from '../console-doc.ts';
import type { OperatorRouteEntry } from '../operator/operator-route.ts';
import { requireOperator } from '../operator/operator-session-routes.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import { followEverything } from './follow-changes.ts';
import type { FollowParts } from './follow-changes.ts';
import { serveStream } from './serve-stream.ts';
import type { StreamParts } from './serve-stream.ts';
import { OPERATOR_TOPICS, readTopics } from './topics.ts';

const ROLE = 'viewer';

/** `GET /stream` of the admin port: what changes in the whole service. */
export function operatorStreamRoute(parts: StreamParts & FollowParts, sessions: OperatorSessions): OperatorRouteEntry {
  return {
    kind: 'console',
    methods: ['GET'],
    path: '/console/api/stream',
    role: ROLE,
    handle: async (exchange) => {
      const topics = readTopics(new URLSearchParams(exchange.querystring), OPERATOR_TOPICS);
      await serveStream(parts, exchange, {
        holders: [`operator ${requireOperator(exchange).name}`],
        topics,
        follow: (following) => {
          followEverything(parts, following);
        },
        mayGoOn: async () => {
          await sessions.operatorOf(exchange, ROLE);
        },
      });
    },
    doc: consoleDoc('streamConsole', 'Hear what changes'),
  };
}
