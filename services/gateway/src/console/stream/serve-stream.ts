import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Topic } from '../../../console/api/stream.ts';
import { sendPaced } from '../../http/event-stream/send-paced.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { watchToken } from '../../relay/realtime/watch-token.ts';
import { changeBlocks } from './change-blocks.ts';
import type { StreamScope } from './follow-changes.ts';
import { pendingChanges } from './pending-changes.ts';
import type { StreamPermits } from '../../operations/stream-permits.ts';

/** With the age of what a check reads this is less than two seconds. */
const CHECK_EVERY_MS = 500;

const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
};

export interface StreamParts {
  readonly clock: Clock;
  readonly permits: StreamPermits;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

export interface ServedStream {
  /** The holders of the permits that it takes: one token or operator, then the tokens that made it. */
  readonly holders: readonly [string, ...string[]];
  readonly topics: ReadonlySet<Topic>;
  /** Begins to note changes. */
  readonly follow: (following: StreamScope) => void;
  /** Throws a Problem once the session has ended or has lost its access, or if that cannot be known. */
  readonly mayGoOn: () => Promise<void>;
}

/** Answers with changes as they happen, until the page leaves, its session ends or the gateway stops. */
export async function serveStream(
  { clock, permits, stopping }: StreamParts,
  exchange: Exchange,
  { holders, topics, follow, mayGoOn }: ServedStream,
): Promise<void> {
  const permit = permits.acquire(...holders);
  const ending = new AbortController();
  const end = (): void => {
    ending.abort(NOT_AWAITED);
  };
  try {
    const over = AbortSignal.any([exchange.state.end.gone(), stopping, ending.signal]);
    const pending = pendingChanges(clock);
    follow({ topics, pending, over });
    void watchToken(mayGoOn, { clock, over, everyMs: CHECK_EVERY_MS, endsUnknown: true, onRefused: end });
    const isResumed = exchange.req.headers['last-event-id'] !== undefined;
    await sendPaced(exchange.res, changeBlocks({ pending, clock, isResumed, over }), { head: HEAD, clock, over });
    exchange.respond = false;
  } finally {
    end();
    permit.release();
  }
}
