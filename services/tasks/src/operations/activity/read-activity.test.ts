import { expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { MinuteRow } from '../../domain/minute-counts.ts';
import { readActivity } from './read-activity.ts';
import type { ActivityDeps } from './read-activity.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

/** The counts of several processes, the newest first, and no backlog. */
function openDeps(rows: readonly MinuteRow[]): ActivityDeps {
  return {
    clock: fakeClock(START + 2 * MINUTE_MS),
    operators: { writeMinutes: async () => undefined, minutesSince: async () => rows, removeMinutes: async () => 0 },
    channels: { all: () => [] },
    backlog: {
      openTasks: async () => [],
      dueSince: async () => new Map(),
      countUnsettled: async () => ({ count: 0, oldest: undefined }),
      countAttention: async () => ({ count: 0, oldest: undefined }),
    },
  } as unknown as ActivityDeps;
}

test('the counts of the whole service are summed by minute, apart from those of its channels', async () => {
  const row = (minutes: number, channel: string, counts: object): MinuteRow => ({
    minute: START + minutes * MINUTE_MS,
    channel,
    json: JSON.stringify(counts),
  });

  const { minutes, channels } = await readActivity(
    openDeps([
      row(1, '', { created: 5, settled: 1 }),
      row(0, '', { created: 2 }),
      row(0, 'main', { accepted: 7, answers: [] }),
      row(0, '', { created: 3, polls: 4 }),
    ]),
  );

  expect(minutes).toMatchObject([
    { minute: timestampFromMs(START), created: 5, polls: 4, settled: 0 },
    { minute: timestampFromMs(START + MINUTE_MS), created: 5, polls: 0, settled: 1 },
  ]);
  expect(channels).toMatchObject([{ channel: 'main', minutes: [{ accepted: 7 }] }]);
});
