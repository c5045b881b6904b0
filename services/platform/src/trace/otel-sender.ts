import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { DropNotes } from './dropped-spans.ts';
import type { SendResult, SpanReceiver } from './otel-receiver.ts';

/** The maximum number of batches in transit, so that later batches do not wait for the answer of a slow receiver. */
const SENDING_MAX = 8;
/** The time limit of a request with a batch. */
const REQUEST_MS_MAX = 10_000;
/**
 * The pauses between the requests while the receiver is away. One batch at a time finds out whether it is back, so a
 * busy receiver gets two requests a second. A longer pause that it asks for would keep spans for too long.
 */
const PAUSE_FIRST_MS = 100;
const PAUSE_MAX_MS = 500;

interface Batch {
  readonly spans: readonly ReadableSpan[];
  /** The time of its first request. */
  readonly begunAt: number;
  /** The failure of its last request, undefined if it succeeded. */
  readonly fault: string | undefined;
}

export interface SendingDeps {
  readonly receiver: SpanReceiver;
  readonly dropped: DropNotes;
  readonly clock: Clock;
}

export interface BatchSenderOptions {
  /** Takes the next batch out of the queue. Returns undefined if no batch is due. */
  readonly takeBatch: () => readonly ReadableSpan[] | undefined;
  /** The time for which a batch is tried. */
  readonly exportMs: number;
}

export interface BatchSender {
  /** Sends the batches that are due, as far as the receiver takes them. */
  send(): void;
  /** Resolves when no batch is left, or at the stop. */
  whenSent(): Promise<void>;
  /** Ends the requests, and drops the spans that are not sent. */
  stop(): void;
}

/** Sends batches side by side, and repeats those that the receiver did not take. */
export function newBatchSender(
  { receiver, dropped, clock }: SendingDeps,
  { takeBatch, exportMs }: BatchSenderOptions,
): BatchSender {
  const over = new AbortController();
  const untaken: Batch[] = [];
  let sending = 0;
  /** 0 if the receiver took the last batch. */
  let pauseMs = 0;
  let isPausing = false;
  let sent: PromiseWithResolvers<undefined> | undefined;

  const send = (): void => {
    const most = pauseMs > 0 ? 1 : SENDING_MAX;
    while (!isPausing && !over.signal.aborted && sending < most) {
      const batch = untaken.shift() ?? newBatch(takeBatch(), clock);
      if (batch === undefined) break;
      sending += 1;
      void sendBatch(batch).finally(() => {
        sending -= 1;
        send();
      });
    }
    if (sending > 0 || untaken.length > 0 || isPausing) return;
    sent?.resolve(undefined);
    sent = undefined;
  };
  const sendBatch = async (batch: Batch): Promise<void> => {
    const { spans, begunAt } = batch;
    const result = await sendOnce(receiver, spans, { clock, over: over.signal });
    if (result.outcome === 'away') void pause();
    else pauseMs = 0;
    if (result.outcome === 'away' && clock.now() - begunAt < exportMs && !over.signal.aborted)
      untaken.push({ spans, begunAt, fault: result.fault });
    else recordLoss(dropped, spans.length, result);
  };
  const pause = async (): Promise<void> => {
    if (isPausing) return;
    isPausing = true;
    pauseMs = Math.min(PAUSE_MAX_MS, pauseMs === 0 ? PAUSE_FIRST_MS : 2 * pauseMs);
    await clock.sleep(pauseMs, over.signal);
    isPausing = false;
    send();
  };
  return {
    send,
    whenSent: () => {
      const { promise } = (sent ??= Promise.withResolvers());
      send();
      return promise;
    },
    stop: () => {
      over.abort();
      for (const { spans, fault } of untaken.splice(0)) dropped.note('not_sent', spans.length, fault);
      sent?.resolve(undefined);
      receiver.close();
    },
  };
}

function newBatch(spans: Batch['spans'] | undefined, clock: Clock): Batch | undefined {
  return spans === undefined ? undefined : { spans, begunAt: clock.now(), fault: undefined };
}

function recordLoss(dropped: DropNotes, spans: number, result: SendResult): void {
  if (result.outcome !== 'taken') dropped.note('not_sent', spans, result.fault);
  else if (result.rejected > 0) dropped.note('not_sent', result.rejected, 'the receiver took only a part');
}

/** Sends one request, and cuts it off if it takes too long. */
async function sendOnce(
  receiver: SpanReceiver,
  spans: readonly ReadableSpan[],
  { clock, over }: { readonly clock: Clock; readonly over: AbortSignal },
): Promise<SendResult> {
  const [ended, late] = [new AbortController(), new AbortController()];
  void clock.sleep(REQUEST_MS_MAX, ended.signal).then(() => late.abort());
  try {
    return await receiver.send(spans, AbortSignal.any([late.signal, over]));
  } finally {
    ended.abort();
  }
}
