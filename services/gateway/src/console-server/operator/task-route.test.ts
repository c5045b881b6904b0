import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { TaskRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { TASK_ID, aCompletedTask } from '../../../testing/a-task.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const RECORD = create(TaskRecordSchema, {
  task: aCompletedTask(),
  tokenId: 'token_1',
  channel: 'one',
  upstreamId: 'up-77',
  upstreamStatus: 'SUCCESS',
  upstreamCostMicroUsd: 350_000n,
  admission: 'accepted',
  attempts: [{ number: 1, channel: 'one', outcome: 'accepted', startedAt: timestampFromMs(3) }],
  events: [{ at: timestampFromMs(4), type: 'polled', detailJson: '{"status":"SUCCESS"}' }],
});

test('a task has its attempts and its history, the facts of its video without a link to it, and its money', async () => {
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        showTask: async () => ({ record: RECORD }),
        listAttention: async () => ({ items: [{ taskId: TASK_ID }] }),
      },
      billing: {
        getHold: async () => ({
          hold: { accountId: 'demo', amountNanos: 400_000_000n, currency: 'USD' },
          lines: [{ eventKey: 'settle:task_1', book: 'revenue', amountNanos: 1n }],
        }),
      },
      accounts: {
        getAccount: async () => ({ account: { id: 'demo', currency: 'USD' } }),
        listTokens: async () => ({ tokens: [{ id: 'token_1', name: 'night shift' }] }),
      },
    },
  });
  console.gateway.tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
  const { json, text } = await console.as('viewer', 'GET', `/tasks/${TASK_ID}`);
  expect(json).toMatchObject({
    task: { id: TASK_ID, tokenName: 'night shift' },
    record: {
      ...{ upstreamId: 'up-77', upstreamStatus: 'SUCCESS', pollErrors: 0 },
      attempts: [{ number: 1, channel: 'one', startedAt: '1970-01-01T00:00:00.003Z' }],
      events: [{ at: '1970-01-01T00:00:00.004Z', type: 'polled', detailJson: '{"status":"SUCCESS"}' }],
    },
    money: { held: { amount: '0.4', currency: 'USD' }, lines: [{ event: 'settle', book: 'revenue' }] },
    usage: { totalSeconds: 5, outputSeconds: 5 },
    upstreamCost: { amount: '0.35', currency: 'USD', source: 'reported' },
    isInAttention: true,
    unavailable: [],
  });
  expect(json.record).not.toHaveProperty('task');
  expect(json.video).not.toHaveProperty('src');
  expect(text).not.toContain('/content');
  expect(JSON.stringify(json.raw)).not.toMatch(/cost|0\.35/i);
});

test.each<[string, { readonly reported?: bigint; readonly estimatedNanos?: bigint }, object | undefined]>([
  [
    'as the upstream reported it',
    { reported: 350_000n, estimatedNanos: 1n },
    { amount: '0.35', currency: 'USD', source: 'reported' },
  ],
  [
    'as an estimate without a report',
    { estimatedNanos: 250_000_000n },
    { amount: '0.25', currency: 'EUR', source: 'estimated' },
  ],
  ['not if it is unknown', {}, undefined],
])('a task has its cost at the upstream: %s', async (_how, { reported, ...upstreamCost }, expected) => {
  const { upstreamCostMicroUsd: _, ...record } = RECORD;
  const known = reported === undefined ? record : { ...record, upstreamCostMicroUsd: reported };
  console = await startOperatorUnderTest({
    operator: {
      tasks: { showTask: async () => ({ record: known }) },
      billing: {
        getHold: async () => ({
          hold: { accountId: 'demo', amountNanos: 400_000_000n, currency: 'EUR' },
          upstreamCost,
        }),
      },
    },
  });
  console.gateway.tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());

  expect((await console.as('viewer', 'GET', `/tasks/${TASK_ID}`)).json.upstreamCost).toEqual(expected);
});

test('a task is shown while billing is away, and the answer says what is missing', async () => {
  const away = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({
    operator: {
      tasks: { showTask: async () => ({ record: RECORD }) },
      billing: { getHold: away },
      accounts: { listTokens: away, getAccount: away },
    },
  });
  console.gateway.tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
  const { status, json } = await console.as('viewer', 'GET', `/tasks/${TASK_ID}`);
  expect([status, json.unavailable, json.task.tokenName]).toEqual([200, ['money'], '']);
});
