import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { call } from '../../../testing/http-call.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const NOW = 1_000_000;
const SINCE = 400_000;
type TasksMethods = NonNullable<OperatorMethods['tasks']>;
const handOver = (over: object = {}): TasksMethods => ({
  getHandOver: async () => ({ since: timestampFromMs(SINCE), now: timestampFromMs(NOW), ...over }),
});
const act = (id: string, at: number, action = 'channel_paused') => ({
  ...{ id, action, actor: 'ada', subject: 'east', at: timestampFromMs(at) },
});
const away = async () => {
  throw serviceUnavailable(undefined);
};
const start = async (operator: OperatorMethods): Promise<void> => {
  console = await startOperatorUnderTest({ operator });
};

describe('a hand-over', () => {
  test('is one list of acts, events and decisions, the newest first, since the mark', async () => {
    const asked: string[] = [];
    await start({
      tasks: {
        getHandOver: async ({ actor }) => {
          asked.push(actor);
          return {
            since: timestampFromMs(SINCE),
            readUntil: timestampFromMs(SINCE),
            now: timestampFromMs(NOW),
            events: [{ at: timestampFromMs(600_000), type: 'circuit_opened', subject: 'east' }],
            raised: [{ at: timestampFromMs(800_000), taskId: 'task_1', reason: 'unknown_status', open: true }],
          };
        },
        listActs: async () => ({ acts: [act('act_3', 900_000), act('act_1', SINCE - 1)] }),
      },
      accounts: { listActs: async () => ({ acts: [act('act_2', 500_000, 'account_credited')] }) },
    });
    const { json } = await console.as('viewer', 'GET', '/hand-over');

    expect(json).toMatchObject({
      since: SINCE,
      readUntil: SINCE,
      now: NOW,
      you: 'viewer',
      hasMore: false,
      entries: [
        { kind: 'act', at: 900_000, act: { id: 'act_3' } },
        { kind: 'raised', at: 800_000, taskId: 'task_1', reason: 'unknown_status', isOpen: true },
        { kind: 'event', at: 600_000, type: 'circuit_opened', subject: 'east' },
        { kind: 'act', at: 500_000, act: { id: 'act_2' } },
      ],
    });
    expect(asked).toEqual(['viewer']);
  });

  test('leaves what happened after its mark to the next one', async () => {
    await start({ tasks: { ...handOver(), listActs: async () => ({ acts: [act('act_1', NOW + 1)] }) } });

    expect((await console.as('viewer', 'GET', '/hand-over')).json.entries).toEqual([]);
  });

  test.each([
    ['every act that was read is new', SINCE, true],
    ['the oldest act that was read is from before the mark', SINCE - 1, false],
  ])('says whether there is more: %s', async (_case, oldestAt, hasMore) => {
    const listActs: TasksMethods['listActs'] = async ({ limit }) => ({
      acts: Array.from({ length: limit }, (_, at) =>
        act(`act_${String(1000 - at)}`, at === limit - 1 ? oldestAt : NOW - at),
      ),
    });
    await start({ tasks: { ...handOver(), listActs } });
    const { json } = await console.as('viewer', 'GET', '/hand-over');

    expect(json.hasMore).toBe(hasMore);
    expect(json.entries.length).toBeLessThanOrEqual(200);
  });

  test('without the acts shows the rest, and says that they are missing', async () => {
    const events = [{ at: timestampFromMs(600_000), type: 'circuit_opened', subject: 'east' }];
    await start({ tasks: handOver({ events }), accounts: { listActs: away } });
    const { status, json } = await console.as('viewer', 'GET', '/hand-over');

    expect(status).toBe(200);
    expect(json).toMatchObject({ areActsUnread: true, entries: [{ kind: 'event', type: 'circuit_opened' }] });
  });

  test('cannot be read without the tasks service, which has the marks, and says so in plain words', async () => {
    await start({ tasks: { getHandOver: away } });
    const { status, json } = await console.as('viewer', 'GET', '/hand-over');

    expect([status, json.error.code]).toEqual([503, 'service_unavailable']);
    expect(json.error.message).not.toMatch(/grpc|connect|tasks|[0-9]:[0-9]/i);
  });

  test('names the services that took a configuration up in one minute as one entry', async () => {
    const applied = (at: number, subject: string) => ({
      at: timestampFromMs(at),
      type: 'configuration_applied',
      subject,
    });
    await start({
      tasks: handOver({
        events: [applied(600_100, 'gateway'), applied(600_000, ''), applied(600_050, 'billing'), applied(500_000, '')],
      }),
    });
    const { json } = await console.as('viewer', 'GET', '/hand-over');

    expect(json.entries).toEqual([
      {
        kind: 'event',
        at: 600_100,
        type: 'configuration_applied',
        subject: '',
        services: ['billing', 'gateway', 'tasks'],
      },
      { kind: 'event', at: 500_000, type: 'configuration_applied', subject: '', services: ['tasks'] },
    ]);
  });
});

describe('a mark', () => {
  test('is that of the operator who is signed in, even if the body names another one', async () => {
    const marks: object[] = [];
    const markHandOver: TasksMethods['markHandOver'] = async ({ actor, until }) => {
      marks.push({ actor, until: Number(until?.seconds) * 1000 });
      return {};
    };
    await start({ tasks: { markHandOver } });
    const named = await console.as('viewer', 'POST', '/hand-over', { until: NOW, actor: 'ada' });
    const own = await console.as('viewer', 'POST', '/hand-over', { until: NOW });

    expect([named.status, own.status]).toEqual([400, 200]);
    expect(marks).toEqual([{ actor: 'viewer', until: NOW }]);
  });

  test.each([[{}], [{ until: -1 }], [{ until: 1.5 }], [{ until: '7' }], [{ until: 2 ** 60 }]])(
    'at no time (%j) is refused by its field',
    async (body) => {
      await start({});
      const { status, json } = await console.as('viewer', 'POST', '/hand-over', body);

      expect([status, json.error.param]).toEqual([400, 'until']);
    },
  );
});

describe('a note', () => {
  const note = { subject: 'east', text: 'mind the rate' };

  test('is written, resolved and deleted in the name of the operator who is signed in', async () => {
    const calls: object[] = [];
    await start({
      tasks: {
        addNote: async ({ subject, text, actor }) => {
          calls.push({ subject, text, actor });
          return { note: { id: 'note_1', subject, text, author: actor, at: timestampFromMs(7) } };
        },
        resolveNote: async ({ id, actor }) => (calls.push({ resolved: id, actor }), {}),
        deleteNote: async ({ id, actor }) => (calls.push({ deleted: id, actor }), {}),
      },
    });
    const answers = [
      await console.as('operator', 'POST', '/notes', note),
      await console.as('operator', 'POST', '/notes/note_1/resolve'),
      await console.as('treasurer', 'DELETE', '/notes/note_1'),
    ];

    expect(answers.map(({ status, json }) => [status, json])).toEqual([
      [200, {}],
      [200, {}],
      [200, {}],
    ]);
    expect(calls).toEqual([
      { ...note, actor: 'operator' },
      { resolved: 'note_1', actor: 'operator' },
      { deleted: 'note_1', actor: 'treasurer' },
    ]);
  });

  test('is read by a viewer, who changes none', async () => {
    const touched = async () => {
      throw new Error('a viewer changed something');
    };
    await start({
      tasks: {
        listNotes: async ({ subject }) => ({
          notes: [{ id: 'note_1', subject, at: timestampFromMs(7), author: 'ada', text: 'mind the rate' }],
        }),
        ...{ addNote: touched, resolveNote: touched, deleteNote: touched },
      },
    });
    const { json } = await console.as('viewer', 'GET', '/notes?subject=east');
    expect(json).toEqual({
      notes: [{ id: 'note_1', subject: 'east', at: 7, author: 'ada', text: 'mind the rate' }],
      canWrite: false,
      you: 'viewer',
    });
    const refused = [
      await console.as('viewer', 'POST', '/notes', note),
      await console.as('viewer', 'POST', '/notes/note_1/resolve'),
      await console.as('viewer', 'DELETE', '/notes/note_1'),
    ];
    expect(refused.map((answer) => [answer.status, answer.json.error.code])).toEqual(
      refused.map(() => [403, 'role_missing']),
    );
  });

  test.each([
    ['no text', { subject: 'east' }, 'text'],
    ['an empty text', { subject: 'east', text: '' }, 'text'],
    ['a text of more than a thousand characters', { subject: 'east', text: 'x'.repeat(1001) }, 'text'],
    ['a subject of more than 128 characters', { subject: 'x'.repeat(129), text: 'a' }, 'subject'],
  ])('with %s is refused by its field', async (_what, body, field) => {
    await start({});
    const { status, json } = await console.as('operator', 'POST', '/notes', body);

    expect([status, json.error.param]).toEqual([400, field]);
  });

  test('is listed only for a subject that is named', async () => {
    await start({});
    const { status, json } = await console.as('viewer', 'GET', '/notes');

    expect([status, json.error]).toMatchObject([
      400,
      { param: 'subject', message: 'subject must be the id of a channel, a task or a job' },
    ]);
  });
});

test('neither is a route of the public port', async () => {
  await start({});
  for (const path of ['/hand-over', '/notes?subject=east']) {
    expect((await call(console.gateway.url, 'GET', `/console/api${path}`)).status).toBe(404);
    expect((await call(console.url, 'GET', `/console/api${path}`, { token: null })).status).toBe(401);
  }
});
