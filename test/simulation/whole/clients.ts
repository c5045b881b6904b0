import { isProblem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Draws } from './draws.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { LostAnswer } from './machine.ts';
import type { Machine } from './machine.ts';
import type { Scheduler } from './scheduler.ts';
import { ACCOUNT, DURATIONS, MODEL, RATIOS, RESOLUTIONS, TOKEN_KEY } from './simulated-config.ts';

const CLIENTS = 6;
const ORDERS_EACH = 4;
const APART_MS_MAX = 9000;
const WITH_KEY = 0.75;
const REPEATED = 0.3;
const CANCELLED = 0.25;
const CANCELLED_TWICE = 0.4;
/** Half of the cancels come when the first poll of the task is due. */
const AT_FIRST_POLL = 0.5;
const FIRST_POLL_MS = { least: 2800, most: 3100 };
const LEFT_EARLY = 0.15;
const LEAVE_MS_MAX = 1500;
const READ_APART_MS = { least: 700, most: 5000 };
const RETRY_MS = { least: 300, most: 3000 };
/** A client gives an order up after this many creates without an answer. */
const CREATES_MAX = 60;
/** And a task after this many reads: it waits for a person. */
const READS_MAX = 60;

/** What the clients saw, for the rules. */
export interface Observer {
  /** A create was answered with a task. */
  promised(order: string, key: string, task: Task): void;
  read(taskId: string, task: Task): void;
  /** A read says that there is no such task. */
  missing(taskId: string): void;
}

export interface ClientsOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly machine: Machine;
  readonly events: EventLog;
  readonly observer: Observer;
}

interface Order {
  readonly name: string;
  /** Empty: none. */
  readonly key: string;
}

/** Runs every client to its end: it has ordered, and each of its tasks has ended or waits for a person. */
export async function runClients(options: ClientsOptions): Promise<void> {
  const tokenId = await readTokenId(options);
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_none, client) => {
      const orders: Promise<void>[] = [];
      for (let number = 0; number < ORDERS_EACH; number += 1) {
        const name = `order-${client * ORDERS_EACH + number}`;
        await options.scheduler.pause(options.draws.whole(`${name} wait`, 0, APART_MS_MAX));
        orders.push(runOrder(options, tokenId, name));
      }
      await Promise.all(orders);
    }),
  );
}

async function readTokenId({ machine, scheduler }: ClientsOptions): Promise<string> {
  for (;;) {
    try {
      const { principal } = await machine.call(({ billing }) => billing.authenticate({ key: TOKEN_KEY }));
      return principal?.tokenId ?? '';
    } catch {
      await scheduler.pause(RETRY_MS.least);
    }
  }
}

async function runOrder(options: ClientsOptions, tokenId: string, name: string): Promise<void> {
  const { draws } = options;
  const order: Order = { name, key: draws.happens(`${name} key`, WITH_KEY) ? `key-of-${name}` : '' };
  const isRepeated = order.key !== '' && draws.happens(`${name} repeat`, REPEATED);
  // the second create runs beside the first one
  const creates = [createUntilAnswered(options, tokenId, order)];
  if (isRepeated) creates.push(createUntilAnswered(options, tokenId, { ...order, name: `${name} again` }, name));
  const [taskId] = await Promise.all(creates);
  if (taskId === undefined) return;
  const cancels = draws.happens(`${name} cancel`, CANCELLED) ? [cancel(options, name, taskId)] : [];
  if (cancels.length > 0 && draws.happens(`${name} cancel twice`, CANCELLED_TWICE))
    cancels.push(cancel(options, name, taskId));
  await Promise.all([readUntilEnd(options, name, taskId), ...cancels]);
}

/** Returns the id of the task; undefined if the order was refused, or no answer came and the client has no key. */
async function createUntilAnswered(
  { scheduler, draws, faults, machine, events, observer }: ClientsOptions,
  tokenId: string,
  { name, key }: Order,
  order = name,
): Promise<string | undefined> {
  const request = {
    accountId: ACCOUNT,
    tokenId,
    idempotencyKey: key,
    order: {
      kind: TaskKind.GENERATION,
      model: MODEL,
      content: [{ item: { case: 'text' as const, value: `a fox in the snow [${order}]` } }],
      duration: draws.pick(`${order} duration`, DURATIONS),
      resolution: draws.pick(`${order} resolution`, RESOLUTIONS),
      ratio: draws.pick(`${order} ratio`, RATIOS),
    },
  };
  const note = (text: string): void => {
    events.write(scheduler.now(), 'client', `${name} ${text}`);
  };
  for (let create = 1; create <= CREATES_MAX; create += 1) {
    const leaves = faults.happens('client leaves', `${name} create ${create}`, LEFT_EARLY);
    const leaveMs = leaves ? draws.whole(`${name} create ${create} leave`, 0, LEAVE_MS_MAX) : undefined;
    try {
      const { task, replayed } = await machine.call(
        ({ tasks }, signal) => tasks.createTask(request, { signal }),
        leaveMs,
      );
      note(`is task ${task?.id ?? ''}${replayed ? ', replayed' : ''}`);
      observer.promised(order, key, task!);
      return task?.id;
    } catch (error) {
      note(`has no task: ${String(error)}`);
      const mayRepeat = key !== '' && !(isProblem(error) && error.kind === 'invalid');
      if (!mayRepeat || (isProblem(error) && error.kind === 'unprocessable')) return undefined;
    }
    await scheduler.pause(draws.whole(`${name} create ${create} retry`, RETRY_MS.least, RETRY_MS.most));
  }
  return undefined;
}

async function readUntilEnd(options: ClientsOptions, name: string, taskId: string): Promise<void> {
  const { scheduler, draws, machine, events, observer } = options;
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    await scheduler.pause(draws.whole(`${name} read ${reads}`, READ_APART_MS.least, READ_APART_MS.most));
    try {
      const { task } = await machine.call(({ tasks }) => tasks.getTask({ accountId: ACCOUNT, taskId }));
      observer.read(taskId, task!);
      if (task?.state === TaskState.COMPLETED || task?.state === TaskState.FAILED) {
        events.write(scheduler.now(), 'client', `${name} ended: ${TaskState[task.state]}`);
        return;
      }
    } catch (error) {
      if (isProblem(error) && error.kind === 'not_found') observer.missing(taskId);
      else if (!(error instanceof LostAnswer) && !isProblem(error)) throw error;
    }
  }
}

async function cancel({ scheduler, draws, machine, events, observer }: ClientsOptions, name: string, taskId: string) {
  const { least, most } = draws.happens(`${name} cancel at poll`, AT_FIRST_POLL)
    ? FIRST_POLL_MS
    : { least: 0, most: READ_APART_MS.most };
  await scheduler.pause(draws.whole(`${name} cancel after`, least, most));
  try {
    const { task } = await machine.call(({ tasks }) => tasks.cancelTask({ accountId: ACCOUNT, taskId }));
    observer.read(taskId, task!);
    events.write(scheduler.now(), 'client', `${name} is cancelled`);
  } catch (error) {
    events.write(scheduler.now(), 'client', `${name} is not cancelled: ${String(error)}`);
  }
}
