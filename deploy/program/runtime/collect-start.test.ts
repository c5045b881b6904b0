import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { collectStart } from './collect-start.ts';

const SECOND_MS = 1000;

/** Watches a process that is busy for these parts of its seconds, and returns how often it was asked and collected. */
async function watch(
  parts: readonly number[],
  stopAfter = Infinity,
): Promise<{ readonly asked: number; readonly collected: number }> {
  const clock = fakeClock();
  const stopping = new AbortController();
  const did = { asked: 0, collected: 0 };
  let isOver = false;
  const over = collectStart({
    clock,
    log: silentLog,
    stopping: stopping.signal,
    busyPart: () => {
      did.asked += 1;
      return parts[did.asked - 1] ?? parts.at(-1) ?? 0;
    },
    collect: async () => {
      did.collected += 1;
    },
  }).then(() => {
    isOver = true;
  });
  for (let second = 1; !isOver; second += 1) {
    if (second > stopAfter) stopping.abort();
    await clock.advance(SECOND_MS);
  }
  await over;
  return did;
}

test('what a start has left is collected in the first quiet second, once', async () => {
  expect(await watch([0.9, 0.1, 0.04, 0.04])).toEqual({ asked: 3, collected: 1 });
});

test('a process that is never quiet is watched for a minute, and not stopped for a collection', async () => {
  expect(await watch([0.06])).toEqual({ asked: 60, collected: 0 });
});

test('a process that stops is not collected', async () => {
  expect(await watch([0.9, 0.04], 1)).toEqual({ asked: 1, collected: 0 });
});
