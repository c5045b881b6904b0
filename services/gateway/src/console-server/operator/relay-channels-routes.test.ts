import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startRelayUpstream } from '../../../testing/scripted-relay-upstream.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const FAR_AWAY = Date.UTC(2999, 0, 1);
type Role = Parameters<OperatorUnderTest['as']>[0];

/** A tasks service which keeps the pauses. */
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
  };
}

/** Calls an RPC of the tasks service. */
async function pass(role: Role, rpc: string, request: object): Promise<ReturnType<typeof JSON.parse>> {
  const calls = [{ rpc: `tasks.OperatorService/${rpc}`, request }];
  return (await console.as(role, 'POST', '/calls', { calls })).json.answers[0];
}

test('the channels of synchronous calls are listed as the tasks service lists its own, also while it is away', async () => {
  const away = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({
    operator: { tasks: { listChannels: away } },
    channels: [aRelayChannel({ id: 'chat-a' })],
  });
  const { status, json } = await console.as('viewer', 'GET', '/relay_channels');
  expect([status, json]).toMatchObject([
    200,
    { channels: [{ id: 'chat-a', adapter: 'relay', enabled: true, circuit: 'closed', inFlight: 0 }] },
  ]);
});

test('a paused channel of synchronous calls gets no call until it is resumed, and its client sees no name', async () => {
  const [tasks, upstream] = [tasksWithPauses(), await startRelayUpstream()];
  console = await startOperatorUnderTest({
    operator: { tasks },
    channels: [aRelayChannel({ id: 'chat-a', base_url: upstream.url })],
  });
  const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }] };
  const ask = () => call(console.gateway.url, 'POST', '/v1/chat/completions', { body: chat });

  await pass('operator', 'PauseChannel', { id: 'chat-a', reason: 'it is slow', forSeconds: 1800 });
  const refused = await ask();
  expect([refused.status, refused.json.error.code, upstream.seen.length]).toEqual([503, 'no_channel_available', 0]);
  expect(refused.text).not.toContain('chat-a');
  const { json } = await console.as('operator', 'GET', '/relay_channels');
  expect(json.channels[0].pause).toEqual({
    ...{ channel: 'chat-a', at: '1970-01-01T00:00:00.007Z', actor: 'operator', reason: 'it is slow' },
    endsAt: new Date(FAR_AWAY).toISOString().replace('.000', ''),
  });

  await pass('operator', 'ResumeChannel', { id: 'chat-a', reason: 'it is quick again' });
  expect([(await ask()).status, upstream.seen.length]).toEqual([200, 1]);
  expect(tasks.acts).toEqual([
    { paused: 'chat-a', actor: 'operator', reason: 'it is slow', forSeconds: 1800 },
    { resumed: 'chat-a', actor: 'operator', reason: 'it is quick again' },
  ]);
  await upstream.stop();
});

test.each([
  ['without a reason', {}, 'reason'],
  ['for a reason of spaces', { reason: '  ' }, 'reason'],
  ['for a reason that is too long', { reason: 'x'.repeat(501) }, 'reason'],
  ['for longer than a week', { reason: 'it is slow', forSeconds: 604_801 }, 'for_seconds'],
])('a pause %s is refused by its field', async (_what, body, param) => {
  const tasks = tasksWithPauses();
  console = await startOperatorUnderTest({ operator: { tasks } });
  const { refusal } = await pass('operator', 'PauseChannel', { id: 'one', ...body });
  expect([refusal.status, refusal.error.param, tasks.acts]).toEqual([400, param, []]);
});

test('a viewer pauses, resumes and tests nothing', async () => {
  const tasks = tasksWithPauses();
  console = await startOperatorUnderTest({ operator: { tasks }, channels: [aRelayChannel({ id: 'chat-a' })] });
  const request = { id: 'chat-a', reason: 'it is slow' };
  for (const rpc of ['PauseChannel', 'ResumeChannel'])
    expect((await pass('viewer', rpc, request)).refusal).toMatchObject({
      status: 403,
      error: { code: 'role_missing' },
    });
  expect((await pass('viewer', 'TestChannel', { id: 'one' })).refusal.status).toBe(403);
  expect((await console.as('viewer', 'POST', '/relay_channels/chat-a/test', {})).status).toBe(403);
  expect(tasks.acts).toEqual([]);
});

test('a channel of synchronous calls is tested here, and a channel that is not there is refused', async () => {
  const upstream = await startRelayUpstream();
  console = await startOperatorUnderTest({ channels: [aRelayChannel({ id: 'chat-a', base_url: upstream.url })] });
  const tested = await console.as('operator', 'POST', '/relay_channels/chat-a/test', {});
  const refused = await console.as('operator', 'POST', '/relay_channels/none/test', {});
  expect([tested.status, tested.json]).toMatchObject([200, { ok: expect.any(Boolean), tookMs: expect.any(String) }]);
  expect([refused.status, refused.json.error.code]).toEqual([404, 'not_found']);
  await upstream.stop();
});

test('the channels are for operators who are signed in, and have no route of the public port', async () => {
  console = await startOperatorUnderTest({ channels: [aRelayChannel({ id: 'chat-a' })] });
  const unsigned = await call(console.url, 'GET', '/console/api/relay_channels', { token: null });
  const asClient = await call(console.gateway.url, 'GET', '/console/api/relay_channels');
  expect([unsigned.status, asClient.status]).toEqual([401, 404]);
  expect(asClient.text).not.toMatch(/relay"|circuit/);
});
