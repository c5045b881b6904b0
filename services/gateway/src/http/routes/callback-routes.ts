import type { IncomingHttpHeaders } from 'node:http';
import type { Problem } from '@reelgate/platform/problem';
import { readSignedName } from '@reelgate/platform/signatures';
import type { Exchange } from '../http-exchange.ts';
import type { Secret } from '@reelgate/platform/secret';
import type { TasksClient } from '../../clients/tasks-client.ts';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { BodyBudget } from '../bodies/body-budget.ts';
import { parseJson } from '../bodies/parse-json.ts';
import { readRawBody } from '../bodies/receive-body.ts';
import { toReceiveOptions } from '../bodies/read-body.ts';
import type { RouteEntry } from './route.ts';
import { refuse } from '../../refusals.ts';

const BODY_BYTES_MAX = 64 * 1024;
const CHALLENGE_LENGTH_MAX = 1024;
const ID_LENGTH_MAX = 128;
/** The headers in which upstreams sign: `webhook-…` and `x-…`. */
const SIGNATURE_HEADER = /^(webhook-|x-)[\w-]{1,60}$/;
const HEADERS_MAX = 32;
const HEADER_LENGTH_MAX = 2048;
/** A task changes a few times. Beyond this limit the poller finds the changes. */
const CALLS_PER_MINUTE = 120;
const DEADLINE_MS = 25_000;

/** The parts that the route of callbacks needs. */
export interface CallbackRouteParts {
  /** Verify the addresses of callbacks. The tasks service derives the same key and signs them. */
  readonly callbackKeys: readonly Secret[];
  readonly counters: RateCounters;
  readonly tasks: TasksClient;
  readonly budget: BodyBudget;
}

/** The callbacks of upstreams. The signed address authorizes the call; no document names it. */
export function callbackRoutes(parts: CallbackRouteParts): RouteEntry[] {
  return [
    {
      kind: 'callback',
      methods: ['GET', 'POST'],
      path: '/callbacks/{token}',
      handle: (exchange) => receiveCallback(parts, exchange),
      doc: {
        tag: 'Internal',
        operationId: 'callBack',
        summary: 'Report that a task of an upstream has changed',
        answers: {},
      },
    },
  ];
}

/** Answers a challenge at once. Any other callback lets the tasks service poll the task. */
async function receiveCallback(parts: CallbackRouteParts, exchange: Exchange): Promise<void> {
  const token = exchange.params['token'] ?? '';
  const name = readSignedName(parts.callbackKeys, token);
  if (name === undefined) throw invalidAddress();
  const verdict = await parts.counters.take(`callbacks:${name}`, CALLS_PER_MINUTE);
  if (!verdict.allowed)
    throw refuse('rate_limit_exceeded', {
      message: `rate limit exceeded: ${CALLS_PER_MINUTE} calls per minute at this address`,
      retryAfterMs: verdict.retryAfterMs,
    });
  const body = exchange.method === 'POST' ? await receiveBytes(parts, exchange) : Buffer.alloc(0);
  const payload = toPayload(body);
  const challenge = new URLSearchParams(exchange.querystring).get('challenge') ?? payload['challenge'];
  if (challenge !== undefined) {
    exchange.body = { challenge: checkChallenge(challenge) };
    return;
  }
  if (exchange.method !== 'POST') throw invalidAddress();
  await parts.tasks.handleCallback(
    {
      token,
      upstreamTaskId: readUpstreamTaskId(payload),
      body,
      headers: selectHeaders(exchange.req.headers),
    },
    { timeoutMs: DEADLINE_MS, requestId: exchange.state.requestId, span: exchange.state.span },
  );
  exchange.body = {};
}

function receiveBytes(parts: CallbackRouteParts, exchange: Exchange): Promise<Buffer> {
  return readRawBody(exchange.req, toReceiveOptions(exchange, parts.budget, BODY_BYTES_MAX));
}

/** The headers that the signature of an upstream can be in. The tasks service knows the upstream. */
function selectHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const named = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      SIGNATURE_HEADER.test(entry[0]) && typeof entry[1] === 'string' && entry[1].length <= HEADER_LENGTH_MAX,
  );
  return Object.fromEntries(named.slice(0, HEADERS_MAX));
}

/** The body as an object. An unreadable body counts as empty, because the callback itself is the message. */
function toPayload(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    return toObjectOrEmpty(parseJson(body));
  } catch {
    return {};
  }
}

function checkChallenge(challenge: unknown): string {
  if (typeof challenge === 'string' && challenge.length <= CHALLENGE_LENGTH_MAX) return challenge;
  throw refuse('invalid_request', {
    field: 'challenge',
    message: `must be a string of at most ${CHALLENGE_LENGTH_MAX} characters`,
  });
}

/** The upstream's task id: in `task.id`, as in the vendor's query answer, or in `task_id`. */
function readUpstreamTaskId(payload: Readonly<Record<string, unknown>>): string {
  const id = toObjectOrEmpty(payload['task'])['id'] ?? payload['task_id'] ?? '';
  const text = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  return typeof text === 'string' && text.length <= ID_LENGTH_MAX ? text : '';
}

function toObjectOrEmpty(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/**
 * The refusal of every invalid address. It is always the same, so that it does not reveal anything about the address.
 */
function invalidAddress(): Problem {
  return refuse('not_found', { message: 'there is nothing at this address' });
}
