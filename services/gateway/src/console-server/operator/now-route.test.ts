import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { Light } from '../../../console/api/operator-now.ts';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const AT = timestampFromMs(6_000_000);
const CHANNEL = {
  id: 'east',
  enabled: true,
  circuit: 'closed',
  models: ['Alpha-H3'],
  endpoints: ['video.generation', 'video.regeneration'],
};
type TasksMethods = NonNullable<OperatorMethods['tasks']>;
const tasks = (over: TasksMethods = {}): TasksMethods => ({
  getActivity: async () => ({ now: AT, unfinished: 7 }),
  listChannels: async () => ({ channels: [CHANNEL] }),
  ...over,
});
const away = async () => {
  throw serviceUnavailable(undefined);
};
const read = async () => (await console.as('viewer', 'GET', '/now')).json;
const named = (lights: readonly Light[], name: string) => lights.find((light) => light.name === name);

test('refusals that clients caused leave the light green, and are told', async () => {
  const minute = { minute: AT, created: 1, refused: 5, refusedByClient: 5, refusedByUpstream: 0, refusedByUs: 0 };
  console = await startOperatorUnderTest({
    operator: { tasks: tasks({ getActivity: async () => ({ now: AT, minutes: [minute] }) }) },
  });

  expect(named((await read()).lights, 'creates')).toMatchObject({
    grade: 'ok',
    causes: { client: 5, upstream: 0, us: 0 },
  });
});

test('a paused only channel leaves its model without one, and the light names both and who paused it', async () => {
  const pause = { channel: 'east', at: AT, actor: 'ada', reason: 'it is slow' };
  const listChannels = async () => ({ channels: [{ ...CHANNEL, pause }] });
  console = await startOperatorUnderTest({
    operator: { tasks: tasks({ listChannels }) },
    channels: [aRelayChannel({ id: 'chat-a' })],
  });

  expect(named((await read()).lights, 'channels')).toMatchObject({
    grade: 'fail',
    figure: '1 of 2 in use',
    unserved: [
      {
        models: ['Alpha-H3'],
        more: 0,
        endpoints: ['video.generation', 'video.regeneration'],
        why: 'east is paused by ada',
      },
    ],
  });
});

test('without the tasks service no figure is shown, and the page learns when it answered last', async () => {
  const state = { isAway: false };
  const getActivity = async () => (state.isAway ? away() : { now: AT, unfinished: 7 });
  console = await startOperatorUnderTest({ operator: { tasks: tasks({ getActivity }) } });
  const before = await read();
  const answeredAt = console.gateway.clock.now();
  state.isAway = true;
  await console.gateway.clock.advance(60_000);
  const after = await read();

  expect([before.unfinished, before.tasksAway]).toEqual([7, undefined]);
  expect(after).toMatchObject({ tasksAway: { answeredAt } });
  expect(after).not.toHaveProperty('unfinished');
});

test('a gateway that was never answered knows no such time', async () => {
  console = await startOperatorUnderTest({ operator: { tasks: tasks({ getActivity: away }) } });

  expect((await read()).tasksAway).toEqual({});
});

test('channels that cannot be read are not taken for channels in use', async () => {
  console = await startOperatorUnderTest({ operator: { tasks: tasks({ listChannels: away }) } });

  expect(named((await read()).lights, 'channels')).toMatchObject({ grade: 'fail', figure: '–' });
});

test('the six lights are shown, and fail, while the tasks service is away', async () => {
  console = await startOperatorUnderTest({ operator: { tasks: { getActivity: away, listChannels: away } } });
  const { status, json } = await console.as('viewer', 'GET', '/now');

  expect(status).toBe(200);
  expect(json).toMatchObject({
    lights: ['creates', 'polls', 'ends', 'settlements', 'channels', 'attention'].map((name) => ({
      name,
      grade: 'fail',
    })),
    services: [{ name: 'tasks', isReachable: true }, { name: 'billing' }, { name: 'media' }],
  });
});
