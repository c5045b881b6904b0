import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const TOKEN = 'token_01ktest000000000000000000a';
const away = async () => {
  throw serviceUnavailable(undefined);
};
const search = (query: string) => console.as('viewer', 'GET', `/search?q=${encodeURIComponent(query)}`);
const start = async (operator: OperatorMethods, relay: readonly string[] = []): Promise<void> => {
  console = await startOperatorUnderTest({ operator, channels: relay.map((id) => aRelayChannel({ id })) });
};

describe('a search', () => {
  test('of an upstream id leads to the one task that has it', async () => {
    const asked: string[] = [];
    const found = [
      { id: 'task_1', accountId: 'demo', model: 'Alpha-H3', createdAt: timestampFromMs(7), foundBy: 'upstream_id' },
    ];
    await start({ tasks: { findWork: async ({ value }) => (asked.push(value), { found }) } });

    expect((await search('  up-17  ')).json).toEqual({
      found: [
        {
          kind: 'task',
          id: 'task_1',
          by: 'upstream_id',
          href: '/console/tasks/task_1',
          accountId: 'demo',
          model: 'Alpha-H3',
          createdAt: 7,
        },
      ],
      href: '/console/tasks/task_1',
      unavailable: [],
    });
    expect(asked).toEqual(['up-17']);
  });

  test('that finds two things leads to neither', async () => {
    const found = [
      { id: 'task_1', foundBy: 'request_id' },
      { id: 'job_1', isJob: true, foundBy: 'request_id' },
    ];
    await start({ tasks: { findWork: async () => ({ found }) } });
    const { json } = await search('req-of-client');

    expect(json.found).toMatchObject([{ href: '/console/tasks/task_1' }, { href: '/console/jobs/job_1' }]);
    expect(json).not.toHaveProperty('href');
  });

  test('by words or by the beginning of an account leads nowhere by itself', async () => {
    await start({
      tasks: { listTaskRecords: async () => ({ records: [{ task: { id: 'task_1' } }] }) },
      accounts: { listAccounts: async () => ({ accounts: [{ id: 'kite-makers' }] }) },
    });
    const { json } = await search('kite');

    expect(json.found).toMatchObject([
      { kind: 'account', by: 'prefix', href: '/console/accounts/kite-makers' },
      { kind: 'task', by: 'words' },
    ]);
    expect(json).not.toHaveProperty('href');
  });

  test('asks for words only if there are some, and for a token only by its whole id', async () => {
    const asked: string[] = [];
    await start({
      tasks: { listTaskRecords: async ({ words }) => (asked.push(`words ${words}`), {}) },
      billing: { getPrincipal: async ({ tokenId }) => (asked.push(tokenId), { principal: { accountId: 'demo' } }) },
    });
    await search('task_17');
    await search('token_17');
    await search('red kite');

    expect(asked).toEqual(['words red kite']);
    expect((await search(TOKEN)).json.href).toBe(`/console/accounts/demo#${TOKEN}`);
  });

  test('of a token that is unknown or has ended finds nothing, and calls nothing away', async () => {
    const getPrincipal = async () => {
      throw new Problem({ kind: 'unauthenticated', reason: 'token_disabled', message: 'the token has ended' });
    };
    await start({ billing: { getPrincipal } });

    expect((await search(TOKEN)).json).toEqual({ found: [], unavailable: [] });
  });

  test('finds a channel of tasks, and one that this gateway calls itself', async () => {
    await start({ tasks: { listChannels: async () => ({ channels: [{ id: 'east', circuit: 'closed' }] }) } }, [
      'chat-a',
    ]);

    expect((await search('east')).json.href).toBe('/console/channels/east');
    expect((await search('chat-a')).json.href).toBe('/console/channels/chat-a');
  });

  test.each<[string, OperatorMethods, readonly string[]]>([
    ['tasks', { tasks: { findWork: away, listTaskRecords: away, listChannels: away } }, ['tasks', 'channels', 'words']],
    ['billing', { accounts: { listAccounts: away } }, ['accounts']],
  ])(
    'while %s is away finds what the other service has, and names what it could not search',
    async (_name, operator, places) => {
      await start({
        tasks: { findWork: async () => ({ found: [{ id: 'task_1', foundBy: 'id' }] }), ...operator.tasks },
        accounts: { listAccounts: async () => ({ accounts: [{ id: 'kite' }] }), ...operator.accounts },
      });
      const { status, json } = await search('kite');

      expect([status, json.unavailable]).toEqual([200, places]);
      expect(json.found).toHaveLength(1);
    },
  );

  test('for nothing asks no service', async () => {
    const findWork = async () => {
      throw new Error('it was asked');
    };
    await start({ tasks: { findWork } });

    expect((await search('   ')).json).toEqual({ found: [], unavailable: [] });
    expect((await console.as('viewer', 'GET', '/search')).json).toEqual({ found: [], unavailable: [] });
  });

  test('for more than 256 characters, or a zero byte, is refused by its field', async () => {
    await start({});
    for (const query of ['x'.repeat(257), 'a\0b']) {
      const { status, json } = await search(query);
      expect([status, json.error]).toMatchObject([
        400,
        { code: 'invalid_request', param: 'q', message: 'q must have at most 256 characters' },
      ]);
    }
    expect((await search('x'.repeat(256))).status).toBe(200);
  });

  test('is for operators who are signed in, and is no route of the public port', async () => {
    await start({});
    const unsigned = await call(console.url, 'GET', '/console/api/search?q=up-17', { token: null });
    const asClient = await call(console.gateway.url, 'GET', '/console/api/search?q=up-17');

    expect([unsigned.status, asClient.status]).toEqual([401, 404]);
    expect(asClient.text).not.toMatch(/upstream|operator/i);
  });
});
