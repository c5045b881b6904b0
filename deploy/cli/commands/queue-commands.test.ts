import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import { QueueReason, QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { COMMANDS } from '../command-table.ts';
import type { Outcome } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { describeAnswer } from '../format/describe-answer.ts';
import { parseCall } from '../parse-call.ts';

const AT = timestampFromMs(1_790_000_000_000);
const SHARED = { kind: TaskKind.GENERATION, model: 'fast', class: QueueClass.BATCH, waiting: 7n, oldestSince: AT };
const PLACE = { position: 2, since: AT, startBy: AT, class: QueueClass.BATCH, waitsFor: QueueWait.OWN_LIMIT };
const WHY = ['--reason', 'a test', '--actor', 'ann'];
const BY = { reason: 'a test', actor: 'ann' };

let asked: object[];
let hasMore: boolean;
beforeEach(() => {
  asked = [];
  hasMore = false;
});

/** Runs a typed line against a service that notes what it is asked. */
async function typed(...args: string[]): Promise<Outcome> {
  const noted =
    <A>(answer: () => A) =>
    async (request: object): Promise<A> => {
      asked.push({ ...request });
      return answer();
    };
  const binding = partialService(QueueService, {
    listQueue: noted(() => ({
      lanes: [
        {
          ...SHARED,
          startsPerMinute: 2.25,
          reason: QueueReason.CHANNEL_LIMIT,
          channels: [{ id: 'main', inFlight: 3n, inFlightLimit: 3n }],
        },
        { waiting: 1n, oldestSince: AT, reason: QueueReason.SCHEDULED },
      ],
      accounts: [{ ...SHARED, accountId: 'acme', weight: 3, share: 0.75, held: true, reason: QueueReason.HELD }],
      hasMore,
      total: 8n,
      totalLimit: 100n,
    })),
    showQueuedTask: noted(() => ({
      ...{ accountId: 'acme', tokenId: 'token_1', kind: TaskKind.GENERATION, model: 'fast', costSeconds: 5n },
      ...{ place: PLACE, reason: QueueReason.OWN_LIMIT },
    })),
    moveQueuedTask: noted(() => ({ place: PLACE })),
    cancelQueued: noted(() => ({ cancelled: 4, hasMore: true })),
    setQueueWeight: noted(() => ({ endsAt: AT })),
    holdQueue: noted(() => ({})),
    releaseQueue: noted(() => ({})),
  });
  const { name = '', words, options } = parseCall(['queue', ...args], COMMANDS);
  return COMMANDS[name]!.run({
    words,
    options: options as never,
    services: { queue: directClient(QueueService, binding, aCaller()) } as Services,
    environment: {},
    terminal: { columns: undefined } as never,
    json: true,
    print: () => undefined,
  });
}

test('queue list shows the lanes, the accounts, and why they wait', async () => {
  const { answer, text } = await typed('list', '--model', 'fast', '--class', 'batch', '--account', 'acme');

  expect(asked).toMatchObject([{ model: 'fast', class: QueueClass.BATCH, accountId: 'acme' }]);
  expect(answer).toMatchObject({
    ...{ total: 8n, totalLimit: 100n, hasMore: false },
    lanes: [SHARED, { reason: QueueReason.SCHEDULED }],
    accounts: [{ ...SHARED, accountId: 'acme' }],
  });
  expect(text).toMatch(
    /^8 of 100 tasks wait\n\nMODEL .*\nfast +batch +7 .* 2\.3 +main 3\/3 +channel_limit\n.*scheduled\n/,
  );
  expect(text).toMatch(/\n\nACCOUNT .*\nacme +fast +batch +7 .* 3 +75% +held$/);
});

test('queue list says that more accounts wait', async () => {
  hasMore = true;

  expect((await typed('list')).text).toMatch(/\n\nmore accounts wait; /);
});

test('queue show shows the place of a task and why it waits', async () => {
  const { answer } = await typed('show', 'task_1');

  expect(asked).toMatchObject([{ taskId: 'task_1' }]);
  expect(answer).toMatchObject({ accountId: 'acme', place: PLACE, reason: QueueReason.OWN_LIMIT });
  expect(describeAnswer(answer)).toMatch(/^kind +generation$[^]*^ +waits_for +own_limit$/m);
});

test.each<[string[], object, object]>([
  [
    ['move', 'task_1', '--class', 'batch'],
    { taskId: 'task_1', class: QueueClass.BATCH, first: false },
    { place: PLACE },
  ],
  [['move', 'task_1', '--first'], { taskId: 'task_1', class: QueueClass.UNSPECIFIED, first: true }, { place: PLACE }],
  [['cancel', 'task_1'], { taskId: 'task_1', accountId: '', tokenId: '' }, { cancelled: 4, hasMore: true }],
  [['cancel', '--account', 'acme', '--token', 't'], { taskId: '', accountId: 'acme', tokenId: 't' }, { cancelled: 4 }],
  [['weight', 'acme', '4', '--for', '2h'], { accountId: 'acme', weight: 4, lasts: { seconds: 7200n } }, { endsAt: AT }],
  [['weight', 'acme', '1'], { accountId: 'acme', weight: 1 }, { endsAt: AT }],
  [['hold', '--account', 'acme'], { accountId: 'acme', model: '' }, {}],
  [['hold', '--model', 'fast'], { accountId: '', model: 'fast' }, {}],
  [['release', '--model', 'fast'], { accountId: '', model: 'fast' }, {}],
])('queue %j asks for it with a reason and an actor', async (args, request, shown) => {
  const { answer } = await typed(...args, ...WHY);

  expect(asked).toMatchObject([{ ...request, ...BY }]);
  expect(answer).toMatchObject(shown);
});

test.each([
  [['cancel', ...WHY], 'name one task, or else an account'],
  [['cancel', 'task_1', '--account', 'acme', ...WHY], 'name one task, or else an account'],
  [['weight', 'acme', ...WHY], 'whole weight'],
  [['weight', 'acme', '1.5', ...WHY], 'whole weight'],
  [['weight', 'acme', '2', '--for', 'long', ...WHY], 'expected a duration'],
  [['hold', ...WHY], 'name one of --account and --model'],
  [['release', '--account', 'a', '--model', 'm', ...WHY], 'name one of --account and --model'],
  [['hold', 'acme', ...WHY], 'unexpected acme'],
])('queue %j is refused before anything is asked', async (args, message) => {
  await expect(typed(...args)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});
