import { beforeEach, describe, expect, test } from '@jest/globals';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { CREATED_MS, aCompletedTask, aTask } from '../../testing/a-task.ts';
import type { TaskCharge } from '../clients/money-client.ts';
import { cacheCharges, CHARGE_DEADLINE_MS } from './read-charge.ts';
import type { ChargeReader } from './read-charge.ts';

const CALLER = { accountId: 'demo', requestId: 'request_1' };
const ID = aTask().id;
const RUNNING = aTask({ state: TaskState.IN_PROGRESS });
const ENDED = aCompletedTask();

const held = (taskId = ID): TaskCharge => ({
  taskId,
  heldNanos: 400n,
  chargedNanos: undefined,
  basis: undefined,
  currency: 'EUR',
});
const charged = (taskId = ID): TaskCharge => ({ ...held(taskId), chargedNanos: 300n, basis: 'usage' });

let clock: FakeClock;
let asked: { readonly ids: readonly string[]; readonly timeoutMs: number }[];
let books: Map<string, TaskCharge>;
let fault: Error | undefined;
let charges: ChargeReader;

beforeEach(() => {
  clock = fakeClock();
  asked = [];
  books = new Map();
  fault = undefined;
  charges = cacheCharges(
    async (_caller, ids, timeoutMs) => {
      asked.push({ ids, timeoutMs });
      if (fault !== undefined) throw fault;
      return new Map([...books].filter(([id]) => ids.includes(id)));
    },
    { clock, log: silentLog },
  );
});

const read = async (task = RUNNING) => await charges.read(task, CALLER);

test.each<[string, TaskCharge, object]>([
  ['an open hold', held(), { state: 'held', amountNanos: 400n, currency: 'EUR' }],
  ['a settlement that waits for a person', { ...held(), basis: 'deferred' }, { state: 'held', amountNanos: 400n }],
  ['a charge', charged(), { state: 'charged', amountNanos: 300n }],
  ['a release', { ...held(), chargedNanos: 0n, basis: 'released' }, { state: 'released', amountNanos: 400n }],
])('%s has its state and amount', async (_what, charge, expected) => {
  books.set(ID, charge);

  expect((await read(ENDED)).charge).toMatchObject(expected);
});

describe('a running task', () => {
  test('is asked for once, however often it is read', async () => {
    books.set(ID, held());

    await Promise.all([read(), read()]);
    await clock.advance(30_000);
    expect(await read()).toEqual({ charge: expect.objectContaining({ state: 'held' }), isLasting: true });

    expect(asked).toEqual([{ ids: [ID], timeoutMs: CHARGE_DEADLINE_MS }]);
  });
  test('is asked for again when it has ended, and never after its charge is there', async () => {
    books.set(ID, held());
    await read();
    expect(await read(ENDED)).toMatchObject({ charge: { state: 'held' }, isLasting: false });

    books.set(ID, charged());
    await clock.advance(250);
    expect(await read(ENDED)).toMatchObject({ charge: { state: 'charged' }, isLasting: true });
    await clock.advance(3_600_000);
    expect(charges.read(ENDED, CALLER)).toMatchObject({ charge: { state: 'charged' }, isLasting: true });

    expect(asked).toHaveLength(3);
  });
  test('is asked for again if it had no hold yet', async () => {
    expect(await read()).toEqual({ charge: undefined, isLasting: false });
    books.set(ID, held());
    await clock.advance(250);

    expect(await read()).toMatchObject({ charge: { state: 'held' } });
  });
});

describe('a task that has just ended', () => {
  const JUST = aCompletedTask({ updatedAt: timestampFromMs(CREATED_MS) });

  test('has its charge in the first read after its end', async () => {
    books.set(ID, held());
    const reading = read(JUST);
    await clock.advance(0);
    books.set(ID, charged());
    await clock.advance(30);

    expect(await reading).toMatchObject({ charge: { state: 'charged' }, isLasting: true });
    expect(asked).toHaveLength(2);
  });
  test('is read as held if its charge does not come in a quarter of a second', async () => {
    books.set(ID, held());
    const reading = read(JUST);
    await clock.advance(0);
    for (const ms of [30, 70, 150]) await clock.advance(ms);

    expect(await reading).toMatchObject({ charge: { state: 'held' }, isLasting: false });
    expect(asked).toHaveLength(4);
  });
});

describe('without billing', () => {
  test('a read has no charge, and the next ones do not ask for two seconds', async () => {
    fault = new Error('away');

    expect(await read()).toEqual({ charge: undefined, isLasting: false });
    expect(charges.read(ENDED, CALLER)).toEqual({ charge: undefined, isLasting: false });
    expect(await charges.readAll([RUNNING, ENDED], CALLER)).toEqual(new Map());
    expect(asked).toHaveLength(1);

    fault = undefined;
    books.set(ID, held());
    await clock.advance(2000);
    expect(await read()).toMatchObject({ charge: { state: 'held' } });
  });
  test('a known charge is shown', async () => {
    books.set(ID, charged());
    await read(ENDED);
    fault = new Error('away');
    await read(aTask({ id: 'task_other' }));

    expect(await read(ENDED)).toMatchObject({ charge: { state: 'charged' }, isLasting: true });
  });
});

test('a page asks once, and only for what it does not know', async () => {
  const page = ['task_1', 'task_2', 'task_3'].map((id) => aCompletedTask({ id }));
  for (const id of ['task_1', 'task_2']) books.set(id, charged(id));
  await read(page[0]);

  const found = await charges.readAll(page, CALLER);

  expect([...found.keys()]).toEqual(['task_1', 'task_2']);
  expect(asked.map(({ ids }) => ids)).toEqual([['task_1'], ['task_2', 'task_3']]);
});
