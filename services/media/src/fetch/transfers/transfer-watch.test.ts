import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { watchTransfer } from './transfer-watch.ts';
import type { Stage, TransferLimits } from './transfer-watch.ts';

const LIMITS: TransferLimits = {
  totalMs: 60_000,
  leastBytesPerSecond: 100,
  speedWindowMs: 15_000,
  stagesMs: { resolve: 1000, connect: 2000, headers: 3000, body: 4000 },
};
const KIB = 1024;

type Step =
  | { readonly enter: Stage | 'queue' }
  | { readonly pass: number }
  | { readonly receive: number }
  | { readonly wire: number };

/** The message after the steps; empty: no limit is reached. */
async function after(steps: readonly Step[], over: Partial<TransferLimits> = {}): Promise<string> {
  const clock = fakeClock();
  let wire = 0;
  const watch = watchTransfer(clock, { ...LIMITS, ...over }, () => wire);
  for (const step of steps) {
    if ('enter' in step) watch.enter(step.enter);
    else if ('receive' in step) watch.received(step.receive);
    else if ('wire' in step) wire += step.wire;
    else for (let left = step.pass; left > 0; left -= 100) await clock.advance(Math.min(left, 100));
  }
  const { aborted, reason } = watch.signal;
  watch.stop();
  return aborted ? (reason as { said: string }).said : '';
}
const times = (count: number, ...steps: readonly Step[]): readonly Step[] =>
  Array.from({ length: count }, () => steps).flat();

describe('a transfer is ended', () => {
  test.each<[string, readonly Step[], string, Partial<TransferLimits>?]>([
    ['when a name takes too long', [{ enter: 'resolve' }, { pass: 1000 }], 'its name was not found within 1 s'],
    ['when a connection takes too long', [{ enter: 'connect' }, { pass: 2000 }], 'no connection was opened within 2 s'],
    ['when an answer does not begin', [{ enter: 'headers' }, { pass: 3000 }], 'no answer came within 3 s'],
    ['when a body falls silent', [{ enter: 'body' }, { pass: 4000 }], 'no more bytes came within 4 s'],
    [
      'when a body falls silent in its middle',
      [{ enter: 'body' }, ...times(3, { pass: 1000 }, { receive: KIB }), { pass: 4000 }],
      'no more bytes came within 4 s',
    ],
    [
      'at its configured limits',
      [{ enter: 'headers' }, { pass: 200 }],
      'no answer came within 0.2 s',
      { stagesMs: { ...LIMITS.stagesMs, headers: 200 } },
    ],
    [
      'when a body comes too slowly',
      [{ enter: 'body' }, ...times(15, { pass: 1000 }, { receive: 99 })],
      'its bytes came too slowly',
    ],
    [
      'when a body comes too slowly after a good beginning',
      [{ enter: 'body' }, { receive: 100 * KIB }, ...times(30, { pass: 1000 }, { receive: 99 })],
      'its bytes came too slowly',
    ],
    [
      'when a body comes too slowly over a configured window',
      [{ enter: 'body' }, ...times(2, { pass: 1000 }, { receive: 99 })],
      'its bytes came too slowly',
      { speedWindowMs: 2000 },
    ],
    [
      'when the whole transfer takes too long at any speed',
      [{ enter: 'body' }, ...times(60, { pass: 1000 }, { receive: KIB })],
      'it took longer than 60 s',
    ],
    [
      'when the whole transfer takes too long over any number of redirects',
      times(30, { enter: 'connect' }, { pass: 1000 }, { enter: 'headers' }, { pass: 1000 }),
      'it took longer than 60 s',
    ],
    [
      'when the whole transfer exceeds a configured limit',
      [{ enter: 'body' }, ...times(5, { pass: 100 }, { receive: KIB })],
      'it took longer than 0.5 s',
      { totalMs: 500 },
    ],
    [
      'when its bytes contain no headers',
      [{ enter: 'headers' }, { wire: KIB * KIB + 1 }, { pass: 100 }],
      'cannot be reached',
    ],
    [
      'when most of its bytes are not the body',
      [{ enter: 'body' }, { receive: KIB }, { wire: KIB * KIB + 2 * KIB + 1 }, { pass: 100 }],
      'cannot be reached',
    ],
  ])('%s', async (_when, steps, said, over = {}) => {
    expect(await after(steps, over)).toContain(said);
  });
});

describe('a transfer continues', () => {
  test.each<[string, readonly Step[], Partial<TransferLimits>?]>([
    [
      'up to each limit',
      [
        { enter: 'resolve' },
        { pass: 900 },
        { enter: 'connect' },
        { pass: 1900 },
        { enter: 'headers' },
        { pass: 2900 },
        { enter: 'body' },
        { pass: 3900 },
      ],
    ],
    ['at the least speed', [{ enter: 'body' }, ...times(50, { receive: 100 }, { pass: 1000 })]],
    [
      'at no speed if no speed is required',
      [{ enter: 'body' }, ...times(50, { pass: 1000 }, { receive: 1 })],
      { leastBytesPerSecond: 0 },
    ],
    [
      'with as many other bytes as body',
      [{ enter: 'body' }, { receive: 10 * KIB * KIB }, { wire: 20 * KIB * KIB }, { pass: 1000 }],
    ],
    ['with the headers of an honest server', [{ enter: 'headers' }, { wire: 64 * KIB }, { pass: 1000 }]],
    [
      'after a wait for a permit, which does not count',
      [
        { enter: 'queue' },
        { pass: 100_000 },
        { enter: 'connect' },
        { pass: 1900 },
        { enter: 'headers' },
        { pass: 2900 },
      ],
    ],
    [
      'after waits between redirects',
      times(
        5,
        { enter: 'queue' },
        { pass: 50_000 },
        { enter: 'connect' },
        { pass: 1900 },
        { enter: 'headers' },
        { pass: 2900 },
      ),
    ],
  ])('%s', async (_when, steps, over = {}) => {
    expect(await after(steps, over)).toBe('');
  });
});

test('a transfer that waited for a permit has only the rest of its time', async () => {
  const afterConnects = (connects: number, lastMs: number): Promise<string> =>
    after([
      { enter: 'headers' },
      { pass: 2900 },
      { enter: 'queue' },
      { pass: 90_000 },
      ...times(connects, { enter: 'connect' }, { pass: 1900 }),
      { enter: 'headers' },
      { pass: lastMs },
    ]);

  expect(await afterConnects(29, 1900)).toBe('');
  expect(await afterConnects(30, 200)).toContain('60 s');
});

test('a stopped watch reports no further limit', async () => {
  const clock = fakeClock();
  const watch = watchTransfer(clock, LIMITS, () => 0);
  const reason = new Error('enough');
  watch.stop(reason);
  await clock.advance(1e6);

  expect(watch.signal.reason).toBe(reason);
});
