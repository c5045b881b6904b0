import type { Message } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CheckOrderRequest, CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';
import { useWorlds } from '../../testing/open-world.ts';
import { anOrder } from '../../testing/orders.ts';
import { someTokens } from '../../testing/tokens.ts';
import { toWireOrder } from '../operations/reads/work-messages.ts';
import { taskService } from './task-service.ts';

const open = useWorlds();
const TOKENS = someTokens({ token_1: {} });

interface Given<T> {
  readonly value: T;
  readonly other: T;
  /** The member of the task that shows it; undefined: none does. */
  readonly shownAs: keyof Task | undefined;
  /** Set if a repeat with another value returns the first task. */
  readonly isOnlyNoted?: true;
}

type NotGiven = keyof Message | 'accountId' | 'tokenId' | 'idempotencyKey' | 'requestFingerprint' | 'queue';
type GivenMember = Exclude<keyof CreateTaskRequest, NotGiven>;

/** Every member of a create that its client gives: one that is missing does not compile. */
const GIVEN: { readonly [K in GivenMember]-?: Given<NonNullable<CreateTaskRequest[K]>> } = {
  order: { value: toWireOrder(anOrder()), other: toWireOrder(anOrder({ duration: 7 })), shownAs: 'order' },
  webhookUrl: { value: 'https://hooks.example/a', other: 'https://hooks.example/b', shownAs: undefined },
  maxAmountNanos: { value: 400_000_000n, other: 400_000_001n, shownAs: undefined },
  currency: { value: 'USD', other: 'EUR', shownAs: undefined },
  label: { value: 'spring', other: 'autumn', shownAs: 'label', isOnlyNoted: true },
};
const MEMBERS = Object.entries(GIVEN);
const NOTED = MEMBERS.filter(([, { isOnlyNoted }]) => isOnlyNoted === true);
const COMPARED = MEMBERS.filter(([, { isOnlyNoted }]) => isOnlyNoted !== true);

/** A check has every member of a create. */
const REQUEST = {
  ...{ accountId: 'acme', tokenId: 'token_1', idempotencyKey: 'key', requestFingerprint: '' },
  ...(Object.fromEntries(MEMBERS.map(([member, { value }]) => [member, value])) as Pick<
    CreateTaskRequest,
    GivenMember
  >),
} satisfies Omit<CreateTaskRequest, keyof Message> & Omit<CheckOrderRequest, keyof Message>;

async function openClient() {
  const { deps } = await open();
  return directClient(TaskService, partialService(TaskService, taskService(deps, TOKENS)), aCaller());
}

test('a create carries every member of its origin', async () => {
  const client = await openClient();

  const { task: created } = await client.createTask(REQUEST);
  const { task: found } = await client.getTask({ accountId: 'acme', taskId: created?.id ?? '' });

  for (const [member, { value, shownAs }] of MEMBERS)
    if (shownAs !== undefined)
      expect({ member, created: created?.[shownAs], found: found?.[shownAs] }).toEqual({
        member,
        created: value,
        found: value,
      });
});

test.each(NOTED)('a repeat with another %s, or with none, returns the first task as it is', async (member, given) => {
  const client = await openClient();
  const { task } = await client.createTask(REQUEST);
  const first = { id: task?.id, [member]: given.value };

  for (const other of [given.other, '']) {
    const repeat = { ...REQUEST, [member]: other };
    expect(await client.createTask(repeat)).toMatchObject({ replayed: true, task: first });
    expect((await client.checkOrder(repeat)).task).toMatchObject(first);
  }
});

test.each(COMPARED)('a repeat with another %s is refused, and so is its check', async (member, { other }) => {
  const client = await openClient();
  await client.createTask(REQUEST);
  const repeat = { ...REQUEST, [member]: other };

  expect(await catchRefusalFields(client.createTask(repeat))).toMatchObject({ reason: 'idempotency_key_reused' });
  expect(await catchRefusalFields(client.checkOrder(repeat))).toMatchObject({ reason: 'idempotency_key_reused' });
});
