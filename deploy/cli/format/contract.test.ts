import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { GetAccountResponseSchema } from '@reelgate/proto/billing/v1/account_service';
import { ListAttentionResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { toContractJson } from './contract.ts';
import { describeAnswer } from './describe-answer.ts';

const CREATED_AT = timestampFromMs(1_790_000_000_000);
const TIME = '2026-09-21T14:13:20';
const ACCOUNT = create(GetAccountResponseSchema, {
  account: { id: 'demo', currency: 'USD', balanceNanos: 2_500_000_000n, createdAt: CREATED_AT },
});
const { items } = create(ListAttentionResponseSchema, { items: [{ taskId: 'task_1', state: TaskState.IN_PROGRESS }] });

test('a message is written as the JSON of its contract, with each field that has no presence', () => {
  expect(toContractJson(ACCOUNT)).toEqual({
    account: { id: 'demo', currency: 'USD', balanceNanos: '2500000000', heldNanos: '0', createdAt: `${TIME}Z` },
  });
});

test('a message inside an answer of several is contract JSON too', () => {
  expect(toContractJson({ ok: true, missing: undefined, items })).toMatchObject({
    ok: true,
    items: [{ taskId: 'task_1', state: 'TASK_STATE_IN_PROGRESS' }],
  });
});

test('a person reads the short word of an enum, an amount as a decimal, and no empty field', () => {
  expect(describeAnswer(ACCOUNT).split('\n')).toEqual([
    ...['id          demo', 'currency    USD', 'balance     2.5', 'held        0', `created_at  ${TIME}.000Z`],
  ]);
  expect(describeAnswer(items)).toMatch(/^task_id +state +is_job\ntask_1 +in_progress +false$/m);
});

test('an answer without a field is the word done', () => {
  expect(describeAnswer(create(GetAccountResponseSchema))).toBe('done');
});
