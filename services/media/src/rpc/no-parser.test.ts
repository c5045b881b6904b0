import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const clock = fakeClock();
let origin: Origin;
let under: MediaUnderTest;

beforeAll(async () => {
  origin = await startOrigin();
  // no process starts with so little memory
  const section = { fetch: { allow: [origin.host] }, probe: { heap: '1KiB', memory: '1MiB' } };
  under = await startMediaUnderTest({ clock, section });
});
afterAll(async () => {
  await under.close();
  await origin.close();
});

test.each<[string, (task: number) => Promise<unknown>]>([
  [
    'result',
    (task) =>
      under.client.ingestResult({
        accountId: 'demo',
        taskId: `task_${task}`,
        url: origin.url(serves(fixture('768p.mp4'))),
      }),
  ],
  [
    'reference',
    (task) =>
      under.client.stageMedia({
        accountId: 'demo',
        taskId: `task_${task}`,
        category: Category.IMAGE,
        url: origin.url(serves(fixture('image.png'), { 'content-type': 'image/png' })),
      }),
  ],
])('a %s is not fetched while no parser may start', async (_what, fetchOne) => {
  const busy = { kind: 'unavailable', reason: 'media_busy', retryAfterMs: expect.any(Number) };
  await expect(fetchOne(0)).rejects.toMatchObject(busy);
  const before = origin.hits.length;

  for (const task of [1, 2, 3]) await expect(fetchOne(task)).rejects.toMatchObject(busy);
  expect(origin.hits.length).toBe(before);

  await clock.advance(60_000);
  await expect(fetchOne(4)).rejects.toMatchObject(busy);
  expect(origin.hits.length).toBe(before + 1);
});
