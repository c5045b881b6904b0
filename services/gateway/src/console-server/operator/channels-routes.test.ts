import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const MINUTE_MS = 60_000;
const FAR_AWAY = Date.UTC(2999, 0, 1);
/** A tasks service with one channel, which keeps the pauses. */
function tasksWithPauses(): NonNullable<OperatorMethods['tasks']> & { readonly acts: object[] } {
  const pauses = new Map<string, { readonly actor: string; readonly reason: string; readonly endsAt?: Timestamp }>();
  const acts: object[] = [];
  const wire = (channel: string) => {
    const pause = pauses.get(channel);
    return pause === undefined ? {} : { pause: { channel, at: timestampFromMs(7), ...pause } };
  };
  return {
    acts,
    pauseChannel: async ({ id, actor, reason, forSeconds }) => {
      acts.push({ paused: id, actor, reason, forSeconds });
      const ends = forSeconds === 0 ? {} : { endsAt: timestampFromMs(FAR_AWAY) };
      pauses.set(id, { actor, reason, ...ends });
      return wire(id);
    },
    resumeChannel: async ({ id, actor, reason }) => {
      acts.push({ resumed: id, actor, reason });
      return { wasPaused: pauses.delete(id) };
    },
    listChannelPauses: async () => ({
      pauses: [...pauses.keys()].flatMap((id) => wire(id).pause ?? []),
      waits: [],
      calls: [],
    }),
    listChannels: async () => ({
      channels: [{ id: 'one', adapter: 'vendor', enabled: true, circuit: 'half_open', inFlight: 2, ...wire('one') }],
    }),
    getActivity: async () => ({
      now: timestampFromMs(100 * MINUTE_MS),
      channels: [
        {
          channel: 'one',
          minutes: [
            { minute: timestampFromMs(99 * MINUTE_MS), accepted: 3, unknown: 1 },
            { minute: timestampFromMs(100 * MINUTE_MS), accepted: 2, failedPolls: 5 },
          ],
          answerMsP50: 120,
          lastError: 'timed out',
        },
      ],
    }),
  };
}

test('channels of tasks have their last hour, and those of synchronous calls stand beside them', async () => {
  console = await startOperatorUnderTest({
    operator: { tasks: tasksWithPauses() },
    channels: [aRelayChannel({ id: 'chat-a' })],
  });
  const { json } = await console.as('viewer', 'GET', '/channels');
  expect(json).toMatchObject({
    canOperate: false,
    channels: [
      {
        channel: { id: 'one', circuit: 'half_open', inFlight: 2 },
        isRelay: false,
        hour: {
          minutes: [
            { accepted: 3, unknown: 1 },
            { accepted: 2, failedPolls: 5 },
          ],
          lastError: 'timed out',
        },
      },
      { channel: { id: 'chat-a', adapter: 'relay', circuit: 'closed', inFlight: 0 }, isRelay: true },
    ],
  });
});

test('a paused channel of synchronous calls gets no call until it is resumed, and its client sees no name', async () => {
  const [tasks, upstream] = [tasksWithPauses(), await startRelayUpstream()];
  console = await startOperatorUnderTest({
    operator: { tasks },
    channels: [aRelayChannel({ id: 'chat-a', base_url: upstream.url })],
  });
  const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }] };
  const ask = () => call(console.gateway.url, 'POST', '/v1/chat/completions', { body: chat });

  await console.as('operator', 'POST', '/channels/chat-a/pause', { reason: '  it is slow ', forSeconds: 1800 });
  const refused = await ask();
  expect([refused.status, refused.json.error.code, upstream.seen.length]).toEqual([503, 'no_channel_available', 0]);
  expect(refused.text).not.toContain('chat-a');
  const { json } = await console.as('operator', 'GET', '/channels');
  expect(json.channels[1].channel.pause).toEqual({
    ...{ channel: 'chat-a', at: '1970-01-01T00:00:00.007Z', actor: 'operator', reason: 'it is slow' },
    endsAt: new Date(FAR_AWAY).toISOString().replace('.000', ''),
  });

  await console.as('operator', 'POST', '/channels/chat-a/resume', { reason: 'it is quick again' });
  expect([(await ask()).status, upstream.seen.length]).toEqual([200, 1]);
  expect(tasks.acts).toEqual([
    { paused: 'chat-a', actor: 'operator', reason: 'it is slow', forSeconds: 1800 },
    { resumed: 'chat-a', actor: 'operator', reason: 'it is quick again' },
  ]);
  await upstream.stop();
});

test.each([
  ['no reason', {}, 400, 'invalid_request'],
  ['a reason of spaces', { reason: '  ' }, 400, 'invalid_request'],
  ['a reason that is too long', { reason: 'x'.repeat(501) }, 400, 'invalid_request'],
])('a pause with %s is refused by its field', async (_what, body, status, code) => {
  console = await startOperatorUnderTest({ operator: { tasks: tasksWithPauses() } });
  const refused = await console.as('operator', 'POST', '/channels/one/pause', body);
  expect([refused.status, refused.json.error]).toMatchObject([status, { code, param: 'reason' }]);
});

test('a pause for longer than a week, or for no time, is refused by its field', async () => {
  const tasks = tasksWithPauses();
  console = await startOperatorUnderTest({ operator: { tasks } });
  for (const forSeconds of [0, 604_801, 1.5, '1800']) {
    const refused = await console.as('operator', 'POST', '/channels/one/pause', { reason: 'it is slow', forSeconds });
    expect([refused.status, refused.json.error]).toMatchObject([400, { param: 'forSeconds' }]);
  }
  expect(tasks.acts).toEqual([]);
});

test('a viewer pauses nothing', async () => {
  const tasks = tasksWithPauses();
  console = await startOperatorUnderTest({ operator: { tasks } });
  const refused = await console.as('viewer', 'POST', '/channels/one/pause', { reason: 'it is slow' });
  expect([refused.status, refused.json.error.code]).toEqual([403, 'role_missing']);
  expect(tasks.acts).toEqual([]);
});

test('a channel that tasks does not have is refused with the reason of the tasks service', async () => {
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        testChannel: async () => {
          throw new Problem({ kind: 'not_found', reason: 'channel_not_found', message: 'there is no such channel' });
        },
      },
    },
  });
  const refused = await console.as('operator', 'POST', '/channels/none/test', {});
  expect([refused.status, refused.json.error.code]).toEqual([404, 'channel_not_found']);
});
