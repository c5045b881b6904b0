import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const NOW = 100 * MINUTE_MS;
const PARTS = ['margins', 'contracts'] as const;
const away = async () => {
  throw serviceUnavailable(undefined);
};
type TasksMethods = NonNullable<OperatorMethods['tasks']>;
const aChannel = (id: string, models: readonly string[]) => ({
  ...{ id, adapter: 'vendor', enabled: true, circuit: 'closed' },
  models: [...models],
});
const tasks = (over: TasksMethods = {}): TasksMethods => ({
  listChannels: async () => ({ channels: [aChannel('east', ['Alpha-H3', 'Beta-V1']), aChannel('west', ['Beta-V1'])] }),
  getActivity: async () => ({ now: timestampFromMs(NOW) }),
  ...over,
});
const start = async (operator: OperatorMethods): Promise<void> => {
  console = await startOperatorUnderTest({ operator, channels: [aRelayChannel({ id: 'chat-a' })] });
};
const read = (id = 'east') => console.as('viewer', 'GET', `/channels/${id}`);

describe('the page of a channel', () => {
  test('has its last hour, and the models that it alone serves', async () => {
    const minutes = [
      { minute: timestampFromMs(NOW - MINUTE_MS), accepted: 2, answerMsP50: 90, answerMsP95: 400 },
      { minute: timestampFromMs(NOW), refused: 1, failedPolls: 2 },
    ];
    const other = [{ minute: timestampFromMs(NOW), failed: 50 }];
    const getActivity = async () => ({
      now: timestampFromMs(NOW),
      channels: [
        { channel: 'west', minutes: other },
        { channel: 'east', minutes },
      ],
    });
    await start({ tasks: tasks({ getActivity }) });
    const { json } = await read();

    expect(json).toMatchObject({
      row: { channel: { id: 'east' }, isRelay: false },
      onlyFor: ['Alpha-H3'],
      canOperate: false,
    });
    expect(json.row.hour.minutes).toMatchObject([
      { accepted: 2, answerMsP50: 90, answerMsP95: 400 },
      { refused: 1, failedPolls: 2 },
    ]);
  });

  test('has the margins and prices of this channel and of no other', async () => {
    const margin = (channel: string) => ({
      ...{ channel, priceKey: 'Alpha-H3', currency: 'USD', requests: 1n, chargedNanos: 5n, costNanos: 2n },
    });
    const price = (key: string, current: boolean) => ({ key, version: 1, sinceMs: 3n, current, termsJson: '{}' });
    const asked: object[] = [];
    await start({
      tasks: tasks(),
      accounts: {
        getMoney: async ({ from, to }) => {
          asked.push({ spanMs: timestampMs(to!) - timestampMs(from!) });
          return { margins: [margin('east'), margin('west')] };
        },
        listPrices: async () => ({
          contracts: [
            price('Alpha-H3', true),
            price('Alpha-H3__regeneration', true),
            price('Alpha-H3', false),
            price('Gamma', true),
          ],
        }),
      },
    });
    const { json } = await read();

    expect(json.margins).toMatchObject([{ channel: 'east' }]);
    expect(json.contracts).toMatchObject([{ key: 'Alpha-H3' }, { key: 'Alpha-H3__regeneration' }]);
    expect(asked).toEqual([{ spanMs: DAY_MS }]);
  });

  test('while billing is away leaves out the money, and shows the rest', async () => {
    await start({ tasks: tasks(), accounts: { getMoney: away, listPrices: away } });
    const { status, json } = await read();

    expect(status).toBe(200);
    expect(PARTS.filter((part) => part in json)).toEqual([]);
  });

  test('of synchronous calls is shown while tasks are away, with what this gateway knows of it', async () => {
    await start({
      tasks: { listChannels: away, getActivity: away },
    });
    const { status, json } = await read('chat-a');

    expect(status).toBe(200);
    expect(json).toMatchObject({ row: { channel: { id: 'chat-a', circuit: 'closed' }, isRelay: true } });
    expect(PARTS.filter((part) => part in json)).toEqual(['margins', 'contracts']);
  });

  test('of tasks while tasks are away is refused as away, never as unknown', async () => {
    await start({ tasks: { listChannels: away } });
    const { status, json } = await read();

    expect([status, json.error.code]).toEqual([503, 'service_unavailable']);
  });

  test('of a channel that is not there is refused as unknown, without its name', async () => {
    await start({ tasks: tasks() });
    const { status, json } = await read('north');

    expect([status, json.error]).toMatchObject([404, { code: 'not_found', message: 'there is no such channel' }]);
  });

  test('lets an operator act, and a viewer only read', async () => {
    await start({ tasks: tasks() });
    const { json } = await console.as('operator', 'GET', '/channels/east');

    expect(json.canOperate).toBe(true);
  });

  test('is for operators who are signed in, and is no route of the public port', async () => {
    await start({ tasks: tasks() });
    const unsigned = await call(console.url, 'GET', '/console/api/channels/east', { token: null });
    const asClient = await call(console.gateway.url, 'GET', '/console/api/channels/east');

    expect([unsigned.status, asClient.status]).toEqual([401, 404]);
    expect(asClient.text).not.toMatch(/vendor|circuit/);
  });
});
