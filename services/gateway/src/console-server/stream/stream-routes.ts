import { listTokenAndMakers } from '../../clients/billing-client.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import { consoleDoc } from '../console-route.ts';
import type { OperatorRouteEntry } from '../operator/operator-route.ts';
import { requireOperator } from '../operator/operator-session-routes.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import type { OperatorSessions } from '../session/operator-sessions.ts';
import { followAccount, followEverything } from './follow-changes.ts';
import type { FollowParts } from './follow-changes.ts';
import { serveStream } from './serve-stream.ts';
import type { StreamParts } from './serve-stream.ts';
import type { Topic } from '../../../console/api/stream.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';

const ROLE = 'viewer';

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
        follow: (following) => followAccount(parts, principal.accountId, following),
        mayGoOn: async () => {
          const token = await sessions.tokenOf(exchange);
          await parts.principals.of(token, { requestId, source, freshMs: SESSION_FRESH_MS });
        },
      });
    },
    doc: consoleDoc('streamConsole', 'Hear what changes'),
  };
}

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
        follow: (following) => followEverything(parts, following),
        mayGoOn: async () => {
          await sessions.operatorOf(exchange, ROLE);
        },
      });
    },
    doc: consoleDoc('streamConsole', 'Hear what changes'),
  };
}

const TOPICS_MAX = 16;
const OF_TASK = /^task:[\w-]{1,64}$/;

/** The topics of a door, beside those of single tasks. */
const CLIENT_TOPICS = ['tasks', 'webhooks'] as const satisfies readonly Topic[];
const OPERATOR_TOPICS = ['now', 'attention', 'channels', 'tasks'] as const satisfies readonly Topic[];

/** The topics that a page wants to hear of. */
function readTopics(query: URLSearchParams, known: readonly Topic[]): ReadonlySet<Topic> {
  const words = (query.get('topics') ?? '').split(',');
  const topics = new Set(
    words.filter((word): word is Topic => OF_TASK.test(word) || known.some((one) => one === word)),
  );
  if (words.every((word) => topics.has(word as Topic)) && topics.size <= TOPICS_MAX) return topics;
  throw invalid(
    'topics',
    `must be 1 to ${TOPICS_MAX} of ${known.join(', ')} and task:ID, separated by commas`,
    'invalid_request',
  );
}
