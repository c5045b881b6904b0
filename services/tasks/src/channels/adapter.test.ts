import { expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { channelSettings } from '../../testing/channel-settings.ts';
import { aContextIr, anOrder, aRegeneration } from '../../testing/orders.ts';
import { channelFactory } from './adapter.ts';
import type { Attempt, Channel } from './channel.ts';

const signal = new AbortController().signal;
const attemptOf = (order: Attempt['order']): Attempt => ({ kind: order.kind, model: 'up-1', order, content: [] });

/** A channel of an adapter that serves generations. Its upstream accepts every order, and all work fails. */
function openGenerator(): { readonly channel: Channel; readonly asked: readonly Attempt[] } {
  const asked: Attempt[] = [];
  const openChannel = channelFactory({
    endpoints: ['video.generation'],
    openChannel: (settings) => ({
      settings,
      submit: async (attempt) => {
        asked.push(attempt);
        return { outcome: 'accepted', upstreamId: 'work-1' };
      },
      poll: async () => {
        const failure = { code: 'failed', message: 'work-1 failed' };
        return { found: true, report: { phase: 'failed', status: 'failed', failure } };
      },
      list: async () => undefined,
      cancel: async () => false,
      test: async () => ({ ok: true, detail: '' }),
      close: async () => undefined,
    }),
  });
  return { channel: openChannel(channelSettings(), systemClock), asked };
}

test.each([aRegeneration(), aContextIr()])(
  'an order of $kind is refused without a call to the upstream',
  async (order) => {
    const { channel, asked } = openGenerator();

    expect(await channel.submit(attemptOf(order), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(asked).toEqual([]);
  },
);

test('a generation is passed on unchanged, without extra fields that the adapter does not declare', async () => {
  const { channel, asked } = openGenerator();
  const attempt = attemptOf(anOrder());

  const submission = await channel.submit(attemptOf({ ...anOrder(), extraJson: '{"seed": 1}' }), signal);

  expect(submission).toEqual({ outcome: 'accepted', upstreamId: 'work-1' });
  expect(asked).toEqual([{ ...attempt, extra: {} }]);
});

test('a failure that a poll reports does not contain the id of the work', async () => {
  const { channel } = openGenerator();

  expect(await channel.poll('work-1', signal)).toMatchObject({ report: { failure: { message: '… failed' } } });
});
