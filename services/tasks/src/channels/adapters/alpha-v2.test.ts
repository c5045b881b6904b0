import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '@reelgate/adapter-kit';
import { systemClock } from '@reelgate/platform/clock';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { Channel, PlannedAttempt, Submission } from '../channel.ts';
import { alphaV2 } from './alpha-v2.ts';

const OURS = 'https://gateway.example/callbacks/task_1.1.c2lnbmF0dXJl';
const UNREACHED: ScriptedAnswer = {
  status: 400,
  json: {
    type: 'error',
    error: {
      type: 'bad_request_error',
      message: 'invalid params, fail to check callback url (2013)',
      http_code: '400',
    },
  },
};
const WRONG: ScriptedAnswer = {
  status: 400,
  json: {
    type: 'error',
    error: { type: 'bad_request_error', message: 'invalid params, duration (2013)', http_code: '400' },
  },
};
const generation = anAttempt();
const contextIr = anAttempt({ kind: 'context_ir', clientCallbackUrl: 'https://client.example/cb' });

let upstream: ScriptedUpstream;
let channel: Channel;
beforeAll(async () => {
  upstream = await openScriptedUpstream();
  channel = channelFactory(alphaV2)(channelSettings({ baseUrl: upstream.url, submitTimeoutMs: 10_000 }), systemClock);
});
afterAll(async () => {
  await channel.close();
  await upstream.close();
});

test.each<[string, object, string | undefined]>([
  ['in the shape of a query answer', { task: { id: '424010985738629', status: 'running' } }, '424010985738629'],
  ['with the id beside the status', { task_id: '424010985738629' }, '424010985738629'],
  ['with a number as its id', { task: { id: 424010985738629 } }, '424010985738629'],
  ['with a number that has lost digits', { task: { id: 42401098573862912345 } }, undefined],
  ['with an invalid id', { task: { id: { $ne: 1 } } }, undefined],
  ['without an id', {}, undefined],
])('a callback %s names its work', (_what, body, id) => {
  expect(alphaV2.callbacks?.readId(body as Json)).toBe(id);
});

describe('a callback address that the upstream cannot reach', () => {
  afterEach(() => {
    expect(upstream.requests).toHaveLength(1);
  });
  const submit = (attempt: PlannedAttempt, answer: ScriptedAnswer): Promise<Submission> => {
    upstream.script(answer);
    return channel.submit(attempt, new AbortController().signal);
  };

  test('is the fault of the channel when it is ours', async () => {
    expect(await submit({ ...generation, callbackUrl: OURS }, UNREACHED)).toMatchObject({
      outcome: 'refused',
      fault: 'channel',
    });
  });

  test("is the fault of the order when it is the client's", async () => {
    expect(await submit(contextIr, UNREACHED)).toMatchObject({ outcome: 'refused', fault: 'order' });
  });

  test('does not change another fault of the order', async () => {
    expect(await submit({ ...generation, callbackUrl: OURS }, WRONG)).toMatchObject({
      outcome: 'refused',
      fault: 'order',
    });
  });
});
