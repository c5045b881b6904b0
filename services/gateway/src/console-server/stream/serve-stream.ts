import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Topic } from '../../../console/api/stream.ts';
import { sendPaced } from '../../http/send-paced.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { watchToken } from '../../operations/watch-token.ts';
import type { StreamScope } from './follow-changes.ts';
import { pendingChanges } from './follow-changes.ts';
import type { StreamPermits } from '../../operations/stream-permits.ts';
import type { PendingChanges } from './follow-changes.ts';

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
  const end = (): void => ending.abort(NOT_AWAITED);
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

/** The longest time without a message to the page. */
const HEARTBEAT_MS = 15_000;
/** Changes within this time are sent together. */
const APART_MS = 500;
const RETRY_MS = 3000;
/** The id of the first block, with which a browser comes back. */
const OPENED = 'opened';

interface ChangeBlocks {
  readonly pending: PendingChanges;
  readonly clock: Clock;
  /** True if the page has had a stream before: it may have missed changes. */
  readonly isResumed: boolean;
  readonly over: AbortSignal;
}

/**
 * The text of a stream of changes, block by block. Changes that occur while a block is being sent go into the next
 * block.
 */
async function* changeBlocks({ pending, clock, isResumed, over }: ChangeBlocks): AsyncGenerator<string, void> {
  if (isResumed) pending.note('all');
  yield `id: ${OPENED}\nretry: ${RETRY_MS}\n: changes follow\n\n`;
  while (!over.aborted) {
    await pending.wait(HEARTBEAT_MS, over);
    if (over.aborted) return;
    const changes = pending.take();
    yield changes.length === 0 ? ':\n\n' : changes.map((change) => `data: ${JSON.stringify(change)}\n\n`).join('');
    await clock.sleep(APART_MS, over);
  }
}
