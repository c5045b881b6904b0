import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { tooManyTransfers } from './fair-semaphore.ts';
import type { Release } from './fair-semaphore.ts';
import { newPermitWait } from './permit-wait.ts';
import type { Take } from './permit-wait.ts';

const QUEUE_MS = 1000;

/** A wait, and the signals of its permits. */
function aWait() {
  const clock = fakeClock();
  const transfer = new AbortController();
  const signals: AbortSignal[] = [];
  const wait = newPermitWait({ clock, queueMs: QUEUE_MS, signal: transfer.signal });
  const free: Take = async (signal) => {
    signals.push(signal);
    return () => undefined;
  };
  const taken: Take = (signal) =>
    new Promise<Release>((_resolve, reject) => {
      signals.push(signal);
      signal.addEventListener('abort', () => {
        reject(tooManyTransfers());
      });
    });
  return { clock, transfer, wait, free, taken, isAborted: () => signals.map(({ aborted }) => aborted) };
}

test('a wait that gets its permits in time aborts nothing, also later', async () => {
  const { clock, wait, free, isAborted } = aWait();
  const got: Release[] = [];

  await wait([free, free], (release) => got.push(release));
  await clock.advance(2 * QUEUE_MS);

  expect([got.length, isAborted()]).toEqual([2, [false, false]]);
});

test.each<[string, (of: ReturnType<typeof aWait>) => unknown]>([
  ['when its time is over', ({ clock }) => clock.advance(1)],
  [
    'when the transfer ends',
    ({ transfer }) => {
      transfer.abort();
    },
  ],
])('a wait is given up %s', async (_when, end) => {
  const of = aWait();
  const waiting = of.wait([of.taken], () => undefined);
  const refused = expect(waiting).rejects.toMatchObject({ code: 'busy' });
  await of.clock.advance(QUEUE_MS - 1);

  await end(of);
  await refused;
});
