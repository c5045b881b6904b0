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

test('every request names the version of the API that it is written for', async () => {
  upstream.script({ status: 200, json: {} }, { status: 200, json: {} });

  await channel.submit(attemptOf('gen4.5', []), signal);
  await channel.poll('1', signal);

  expect(upstream.requests.map(({ headers }) => headers['x-runway-version'])).toEqual(['2024-11-06', '2024-11-06']);
});

test.each<[string, Attempt]>([
  ['a model that is not known', attemptOf('gen9', [])],
  ['a model by the name of what every object has', attemptOf('toString', [])],
  ['text for a model that makes no video of text', attemptOf('gen4_turbo', [])],
  ['a last frame for a model that takes none', attemptOf('gen4.5', [image('first_frame'), image('last_frame')])],
  ['references for a model that takes none', attemptOf('veo3.1', [image('reference_image')])],
  ['frames and references together', attemptOf('seedance2', [image('first_frame'), image('reference_image')])],
  ['a resolution that the model does not make', attemptOf('gen4.5', [], { resolution: '1080P' })],
  ['a resolution that is no tier', attemptOf('gen4.5', [], { resolution: '768P' })],
  ['a shape that the model does not make', attemptOf('veo3.1', [], { ratio: '1:1' })],
  ['a shape that it makes of images alone', attemptOf('gen4.5', [], { ratio: '4:3' })],
])('%s is refused, and nothing is sent', async (_what, attempt) => {
  expect(await channel.submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
  expect(upstream.requests).toHaveLength(0);
});
