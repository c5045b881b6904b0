import { expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { aContextIr, anOrder, aRegeneration } from '../../../testing/orders.ts';
import type { Attempt, Channel } from '../channel.ts';
import { onlyEndpoints } from './only-endpoints.ts';

const signal = new AbortController().signal;
const attemptOf = (order: Attempt['order']): Attempt => ({ kind: order.kind, model: 'up-1', order, content: [] });

test.each([aRegeneration(), aContextIr()])(
  'an order of $kind is refused without a call to the upstream',
  async (order) => {
    const channel = onlyEndpoints(
      ['video.generation'],
      (settings) => ({ settings, submit: () => Promise.reject(new Error('asked')) }) as unknown as Channel,
    )(channelSettings(), systemClock);

    expect(await channel.submit(attemptOf(order), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
  },
);

test('a generation is passed on unchanged', async () => {
  const asked: Attempt[] = [];
  const attempt = attemptOf(anOrder());
  const channel = onlyEndpoints(
    ['video.generation'],
    (settings) =>
      ({
        settings,
        submit: async (one: Attempt) => {
          asked.push(one);
          return { outcome: 'accepted', upstreamId: '1' };
        },
      }) as unknown as Channel,
  )(channelSettings(), systemClock);

  expect(await channel.submit(attempt, signal)).toEqual({ outcome: 'accepted', upstreamId: '1' });
  expect(asked).toEqual([attempt]);
});
