import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { anOrder } from '../../../testing/orders.ts';
import { openScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import type { ScriptedUpstream } from '../../../testing/scripted-upstream.ts';
import type { Order } from '../../domain/order.ts';
import type { Attempt, AttemptItem, Channel } from '../channel.ts';
import { runway } from './runway.ts';

const signal = new AbortController().signal;
const image = (role: 'first_frame' | 'last_frame' | 'reference_image'): AttemptItem => ({
  media: 'image',
  role,
  url: 'https://media.example/a.png',
});
const attemptOf = (model: string, content: AttemptItem[], order: Partial<Order> = {}): Attempt => ({
  kind: 'generation',
  model,
  order: anOrder({ resolution: '720P', ...order }),
  content: [{ text: 'a fox' }, ...content],
});

let upstream: ScriptedUpstream;
let channel: Channel;

beforeAll(async () => {
  upstream = await openScriptedUpstream();
  channel = runway.openChannel(channelSettings({ baseUrl: upstream.url }), systemClock);
});
afterEach(() => {
  upstream.script();
});
afterAll(async () => {
  await channel.close();
  await upstream.close();
});

test('every request names the API version of the adapter', async () => {
  upstream.script({ status: 200, json: {} }, { status: 200, json: {} });

  await channel.submit(attemptOf('gen4.5', []), signal);
  await channel.poll('1', signal);

  expect(upstream.requests.map(({ headers }) => headers['x-runway-version'])).toEqual(['2024-11-06', '2024-11-06']);
});

test.each<[string, Attempt]>([
  ['an unknown model', attemptOf('gen9', [])],
  ["a model with the name of an object's built-in property", attemptOf('toString', [])],
  ['text for a model without text to video', attemptOf('gen4_turbo', [])],
  ['a last frame for a model that accepts none', attemptOf('gen4.5', [image('first_frame'), image('last_frame')])],
  ['references for a model that accepts none', attemptOf('veo3.1', [image('reference_image')])],
  ['frames and references together', attemptOf('seedance2', [image('first_frame'), image('reference_image')])],
  ['a resolution that the model does not support', attemptOf('gen4.5', [], { resolution: '1080P' })],
  ['an unknown resolution', attemptOf('gen4.5', [], { resolution: '768P' })],
  ['a ratio that the model does not support', attemptOf('veo3.1', [], { ratio: '1:1' })],
  ['a ratio that the model supports for images alone', attemptOf('gen4.5', [], { ratio: '4:3' })],
])('%s is refused without a call', async (_what, attempt) => {
  expect(await channel.submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
  expect(upstream.requests).toHaveLength(0);
});
