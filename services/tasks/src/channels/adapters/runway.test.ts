import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, PlannedAttempt } from '../channel.ts';
import { runway } from './runway.ts';

const signal = new AbortController().signal;
const image = (role: 'first_frame' | 'last_frame' | 'reference_image'): AttemptItem => ({
  media: 'image',
  role,
  url: 'https://media.example/a.png',
});
const planFor = (model: string, content: AttemptItem[], order: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model, resolution: '720P', ...order, content: [{ text: 'a fox' }, ...content] });

let upstream: ScriptedUpstream;
let channel: Channel;

beforeAll(async () => {
  upstream = await openScriptedUpstream();
  channel = channelFactory(runway)(channelSettings({ baseUrl: upstream.url }), systemClock);
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

  await channel.submit(planFor('gen4.5', []), signal);
  await channel.poll('1', signal);

  expect(upstream.requests.map(({ headers }) => headers['x-runway-version'])).toEqual(['2024-11-06', '2024-11-06']);
});

test.each<[string, PlannedAttempt]>([
  ['an unknown model', planFor('gen9', [])],
  ["a model with the name of an object's built-in property", planFor('toString', [])],
  ['text for a model without text to video', planFor('gen4_turbo', [])],
  ['a last frame for a model that accepts none', planFor('gen4.5', [image('first_frame'), image('last_frame')])],
  ['references for a model that accepts none', planFor('veo3.1', [image('reference_image')])],
  ['frames and references together', planFor('seedance2', [image('first_frame'), image('reference_image')])],
  ['a resolution that the model does not support', planFor('gen4.5', [], { resolution: '1080P' })],
  ['an unknown resolution', planFor('gen4.5', [], { resolution: '768P' })],
  ['a ratio that the model does not support', planFor('veo3.1', [], { ratio: '1:1' })],
  ['a ratio that the model supports for images alone', planFor('gen4.5', [], { ratio: '4:3' })],
])('%s is refused without a call', async (_what, attempt) => {
  expect(await channel.submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
  expect(upstream.requests).toHaveLength(0);
});
