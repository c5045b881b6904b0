import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { create } from '@bufbuild/protobuf';
import { WatchEventsResponseSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type { WatchEventsResponse } from '@reelgate/proto/tasks/v1/webhook_service';
import type { WebhookEvents } from '../clients/webhooks-client.ts';
import { followEvents } from './follow-events.ts';

const filter = { accountId: 'demo' };
const at = (cursor: string): WatchEventsResponse => create(WatchEventsResponseSchema, { cursor });
const unavailable = new Problem({ kind: 'unavailable', reason: 'stream_expired', message: 'call again' });

type Watch = (cursor: string, signal: AbortSignal) => AsyncGenerator<WatchEventsResponse>;

/** Follows streams of which each is one of these; the last one repeats. */
function following(...watches: [Watch, ...Watch[]]) {
  const clock = fakeClock();
  const over = new AbortController();
  const cursors: string[] = [];
  const webhooks: WebhookEvents = {
    watchEvents: ({ cursor = '' }, { signal } = {}) => {
      cursors.push(cursor);
      return (watches[cursors.length - 1] ?? watches.at(-1)!)(cursor, signal!);
    },
  };
  const messages = followEvents(
    { webhooks, clock },
    { filter, cursor: undefined, requestId: 'req_1', over: over.signal },
  );
  return { clock, over, cursors, messages };
}

const ended = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });

test('a stream that says nothing for 45 seconds is left, and followed from its last cursor', async () => {
  let isLeft = false;
  const { clock, cursors, messages } = following(
    async function* (_cursor, signal) {
      yield at('evt_1');
      await ended(signal).catch(() => {
        isLeft = true;
      });
    },
    async function* () {
      yield at('evt_2');
    },
  );
  expect((await messages.next()).value).toEqual(at('evt_1'));
  const next = messages.next();
  await clock.advance(44_999);
  expect(cursors).toEqual(['']);
  await clock.advance(1);
  await clock.advance(200);

  expect((await next).value).toEqual(at('evt_2'));
  expect([cursors, isLeft]).toEqual([['', 'evt_1'], true]);
});

test('the time that a reader takes is no silence', async () => {
  const { clock, cursors, messages } = following(async function* () {
    yield at('evt_1');
    yield at('evt_2');
  });
  await messages.next();
  await clock.advance(600_000);

  expect((await messages.next()).value).toEqual(at('evt_2'));
  expect(cursors).toHaveLength(1);
});

test('pauses grow to five seconds while streams fail, and begin anew after a message', async () => {
  let isThere = true;
  const { clock, cursors, messages } = following(async function* () {
    if (!isThere) throw unavailable;
    yield at('evt_1');
    throw unavailable;
  });
  await messages.next();
  isThere = false;
  const next = messages.next();
  await clock.advance(0);
  const opened: number[] = [];
  for (let ms = 0; ms < 21_500; ms += 100) {
    await clock.advance(100);
    if (cursors.length > opened.length + 1) opened.push(ms + 100);
  }
  expect(opened).toEqual([200, 600, 1400, 3000, 6200, 11_200, 16_200, 21_200]);

  isThere = true;
  await clock.advance(5000);
  expect((await next).value).toEqual(at('evt_1'));
});

test('a refusal of the first stream, or of a place that is gone, ends the following', async () => {
  const refused = following(async function* () {
    throw unavailable;
  });
  await expect(refused.messages.next()).rejects.toBe(unavailable);

  const gone = new Problem({ kind: 'gone', reason: 'event_expired', message: 'is no longer kept' });
  const { clock, messages } = following(
    async function* () {
      yield at('evt_1');
    },
    async function* () {
      throw gone;
    },
  );
  await messages.next();
  const next = messages.next();
  const refusal = expect(next).rejects.toBe(gone);
  await clock.advance(0);
  await clock.advance(200);
  await refusal;
});

test('a replica that stops before its first message does not end the following', async () => {
  const stopping = new Problem({ kind: 'unavailable', reason: 'service_stopping', message: 'call again' });
  const { clock, messages } = following(
    async function* () {
      throw stopping;
    },
    async function* () {
      yield at('evt_1');
    },
  );
  const first = messages.next();
  await clock.advance(0);
  await clock.advance(200);

  expect((await first).value).toEqual(at('evt_1'));
});

test('the following ends at once with its signal', async () => {
  const { over, messages } = following(async function* (_cursor, signal) {
    yield at('evt_1');
    await ended(signal);
  });
  await messages.next();
  const next = messages.next();
  over.abort();

  expect(await next).toEqual({ done: true, value: undefined });
});
