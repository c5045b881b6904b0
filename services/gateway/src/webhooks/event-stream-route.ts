import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { listTokenAndMakers } from '../clients/billing-client.ts';
import { readOwn } from '../domain/read-own.ts';
import { followEvents } from '../operations/follow-events.ts';
import type { FollowDeps } from '../operations/follow-events.ts';
import type { Log } from '@reelgate/platform/log';
import { inClientTerms } from '../operations/submit-order.ts';
import { watchAccess } from '../http/admission/watch-access.ts';
import type { WaitAccessParts } from '../http/admission/watch-access.ts';
import { messageBlocks } from './message-blocks.ts';
import { sendPaced } from '../http/send-paced.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import type { StreamPermits } from '../operations/stream-permits.ts';
import type { EventBody } from './event-body.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { EVENT_TYPES } from '../clients/webhooks-client.ts';
import type { QueryParameter } from '../dialects/dialect.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { readEnumValue } from '../dialects/wire/query-values.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';

/** Another replica takes the client at once. */
const STOPPING_RETRY_MS = 1000;
const HEAD = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

/** The parts that the stream of events needs. */
export interface EventStreamParts extends WaitAccessParts, FollowDeps {
  readonly log: Log;
  readonly eventStreams: StreamPermits;
  /** Writes the JSON of an event. */
  readonly eventBody: EventBody;
}

/** The events of an account as server-sent events. */
export function eventStreamRoute(parts: EventStreamParts): RouteEntry {
  return {
    kind: 'stream',
    methods: ['GET'],
    path: '/v1/events',
    token: { counts: 'reads' },
    handle: async (exchange) => {
      const query = readStreamQuery(new URLSearchParams(exchange.querystring), exchange.req.headers);
      const permit = parts.eventStreams.acquire(...listTokenAndMakers(requirePrincipal(exchange)));
      try {
        await streamEvents(parts, exchange, query);
      } finally {
        permit.release();
      }
    },
    doc: {
      tag: 'Webhooks',
      operationId: 'streamEvents',
      summary: 'Hear the events of the account as they happen',
      description:
        'Server-sent events. The data of an event is the body of a webhook delivery. A client that reconnects with ' +
        '`Last-Event-ID` misses nothing, as long as the event is kept. A token has at most 8 streams.',
      parameters: STREAM_PARAMETERS,
      headers: ['Last-Event-ID'],
      refuses: [400, 410],
      answers: { 'text/event-stream': { type: 'string' } },
    },
  };
}

async function streamEvents(parts: EventStreamParts, exchange: Exchange, query: StreamQuery): Promise<void> {
  const { clock, log, stopping } = parts;
  const { end, requestId } = exchange.state;
  const ending = new AbortController();
  const over = AbortSignal.any([end.gone(), stopping, ending.signal]);
  watchAccess(parts, exchange, {
    over,
    onRefused: () => ending.abort(),
  });
  const { types, subjectId, payload, cursor, cursorField } = query;
  const { accountId } = requirePrincipal(exchange);
  const filter = { accountId, types, subjectId, withSubject: payload === WebhookPayload.FULL };
  const blocks = messageBlocks({
    messages: followEvents(parts, { filter, cursor, requestId, over }),
    clock,
    cursor,
    encodeBody: (event) => parts.eventBody(event, payload),
  });
  try {
    const names: Readonly<Record<string, string>> = { cursor: cursorField, subject_id: 'task_id' };
    await inClientTerms(
      { clientField: (field) => readOwn(names, field) ?? field },
      sendPaced(exchange.res, blocks, { head: HEAD, clock, over }),
    );
    // browsers give a stream up that is refused, and open one that ends again: then at another replica
    if (!exchange.res.headersSent && stopping.aborted)
      exchange.res.writeHead(200, HEAD).end(`retry: ${STOPPING_RETRY_MS}\n\n`);
    exchange.respond = false;
  } catch (error) {
    if (exchange.res.headersSent) log.warn({ requestId, err: error }, 'an event stream broke off');
    throw error;
  } finally {
    ending.abort();
  }
}

const PAYLOADS = deriveValues(WebhookPayload);
const HEADER = 'Last-Event-ID';
const PARAMETER = 'last_event_id';
const ID_PATTERN = '^[A-Za-z0-9_-]{0,64}$';

const STREAM_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'types',
    description: `Only events of these types, separated by commas: ${EVENT_TYPES.join(', ')}.`,
    schema: {
      type: 'string',
      pattern: `^((${EVENT_TYPES.join('|').replaceAll('.', '\\.')})(,(?!$)|$))*$`,
      examples: ['video.completed,video.failed'],
    },
  },
  {
    name: 'task_id',
    description: 'Only events about this task or asynchronous call.',
    schema: { type: 'string', pattern: ID_PATTERN },
  },
  {
    name: 'payload',
    description:
      'thin: the id of the task or call. full: also the task or call, as a status read answers, without the charge.',
    schema: { enum: ['thin', 'full', ''], default: 'thin' },
  },
  {
    name: PARAMETER,
    description: 'As the header Last-Event-ID, which overrides it.',
    schema: { type: 'string', pattern: ID_PATTERN },
  },
];

/** The events that a client asks for, and the start of its stream. */
interface StreamQuery {
  readonly types: string[];
  /** The task or the job of the events, empty if all match. */
  readonly subjectId: string;
  readonly payload: WebhookPayload;
  /** The cursor at which its last stream ended; undefined if the stream begins now. */
  readonly cursor: string | undefined;
  /** The header or the parameter in which the client sent the cursor. */
  readonly cursorField: string;
}

function readStreamQuery(query: URLSearchParams, headers: IncomingHttpHeaders): StreamQuery {
  const header = readId(headers['last-event-id'], HEADER, 'must be the id of an event of this stream');
  return {
    types: readTypes(query.get('types')),
    subjectId: readId(query.get('task_id'), 'task_id', 'must be the id of a task or an asynchronous call') ?? '',
    payload: readEnumValue(query, 'payload', PAYLOADS) ?? WebhookPayload.THIN,
    cursor: header ?? readId(query.get(PARAMETER), PARAMETER, 'must be the id of an event of this stream'),
    cursorField: header === undefined ? PARAMETER : HEADER,
  };
}

function readTypes(text: string | null): string[] {
  if (text === null || text === '') return [];
  const types = [...new Set(text.split(','))];
  if (types.every((type) => EVENT_TYPES.includes(type))) return types;
  throw invalid('types', `must be some of ${EVENT_TYPES.join(', ')}, separated by commas`, 'invalid_request');
}

function readId(value: string | readonly string[] | null | undefined, field: string, rule: string): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'string' && PLAUSIBLE_ID.test(value)) return value;
  throw invalid(field, rule, 'invalid_request');
}
