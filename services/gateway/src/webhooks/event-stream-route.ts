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
import { STREAM_PARAMETERS, readStreamQuery } from './stream-query.ts';
import type { StreamQuery } from './stream-query.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { StreamPermits } from '../operations/stream-permits.ts';
import type { EventBody } from './event-body.ts';
import type { RouteEntry } from '../http/routes/route.ts';

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
    onRefused: () => {
      ending.abort();
    },
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
