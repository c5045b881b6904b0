import type { MessageInitShape } from '@bufbuild/protobuf';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import { isFinal } from './dialects.ts';
import type { SeenTask } from './dialects.ts';
import { RECEIVERS } from './receivers.ts';
import { callTasks, readWireTask } from './rpc-calls.ts';
import { DURATIONS, MODELS, NANOS_PER_SECOND, POOR, RATIOS, RICH } from './simulated-config.ts';
import { makeToken } from './team.ts';
import type { MadeToken } from './team.ts';
import { computeRetryFactor, mayRepeat } from './world.ts';
import type { World } from './world.ts';
import type { RunningWatch } from './watches.ts';

/** The orders of the team that calls the tasks service. Those of other clients have other numbers. */
export const RPC_ORDERS: readonly string[] = Array.from({ length: 5 }, (_none, at) => `order-${800 + at}`);
const WITHIN_MS = 45_000;
const WITH_KEY = 0.8;
const REPEATED = 0.4;
const OTHER_ORDERS = 0.3;
const WITH_PICTURE = 0.3;
const WITH_WEBHOOK = 0.3;
const WITH_LABEL = 0.4;
const LABELS = ['spring', 'team:7'] as const;
const BOUNDED = 0.3;
/** In percent of the price. The dearest table of prices has 130 percent, the cheapest 80. */
const BOUNDS: readonly bigint[] = [20n, 130n, 200n];
const TOO_DEAR_PERCENT = 40n;
const ABOVE_BOUND = /price_above_max/;
const CANCELLED = 0.5;
/** About when the first poll of a task is due. */
const CANCEL_MS = { least: 1500, most: 3500 };
const LEFT_EARLY = 0.15;
const LEAVE_MS_MAX = 1500;
const RETRY_MS = { least: 500, most: 6000 };
const READ_APART_MS = { least: 1000, most: 8000 };
const CREATES_MAX = 30;
const REFUSALS_MAX = 8;
const READS_MAX = 20;
const ACCOUNT_REFUSED = 403;
const PROMPT = 'a fox in the snow';
const OTHER_PROMPT = 'a fox in the rain';

/** An order of the team, as it sends it. */
interface RpcOrder {
  readonly name: string;
  readonly key: string;
  /** Describes it with a prompt. */
  readonly describe: (prompt: string) => MessageInitShape<typeof CreateTaskRequestSchema>;
  readonly isTooDear: boolean;
}

/** A team that calls the tasks service by its contract, as `callers` of a configuration allow it for one account. */
export async function runRpcCallers(world: World, watch: RunningWatch): Promise<void> {
  const { scheduler, draws, faults } = world;
  const names = RPC_ORDERS.filter((name) => !faults.isLeftOut(name));
  if (names.length === 0) return;
  const token = await makeToken(world, 'token of the calling team', { accountId: RICH.id });
  if (token === undefined) return;
  await Promise.all(
    names.map(async (name) => {
      await scheduler.pause(draws.whole(`${name} wait`, 0, WITHIN_MS));
      await runOrder(world, token, { name, watch });
    }),
  );
}

async function runOrder(
  world: World,
  token: MadeToken,
  { name, watch }: { readonly name: string; readonly watch: RunningWatch },
): Promise<void> {
  const { draws, acts, rules } = world;
  const order = drawOrder(world, token, name);
  if (order.isTooDear) rules.tooDear(name);
  const begunAt = world.scheduler.now();
  const isRepeated = order.key !== '' && draws.happens(`${name} repeat`, REPEATED);
  const creates = [createUntilAnswered(world, order, name)];
  if (isRepeated) creates.push(createUntilAnswered(world, order, `${name} again`));
  const [taskId, same] = await Promise.all(creates);
  if (taskId === undefined) return;
  world.orders.answered(name);
  acts.note('a task is ordered over gRPC');
  if (taskId === same) acts.note('a key over gRPC is repeated');
  if (order.key !== '') await tryKey(world, order, taskId);
  const cancels = draws.happens(`${name} cancel`, CANCELLED) ? cancel(world, name, taskId) : undefined;
  const [seen] = await Promise.all([readUntilEnd(world, name, taskId), askForOthers(world, name, taskId), cancels]);
  if (seen === undefined) return;
  watch.ended(seen, begunAt);
  if (seen.status === 'completed') acts.note('a task over gRPC completes');
}

function drawOrder({ draws, orders }: World, token: MadeToken, name: string): RpcOrder {
  const model = draws.pick(`${name} model`, Object.keys(MODELS));
  const resolution = draws.pick(`${name} resolution`, Object.keys(MODELS[model] ?? {}));
  const seconds = draws.pick(`${name} duration`, DURATIONS);
  const key = draws.happens(`${name} key`, WITH_KEY) ? `key-of-${name}` : '';
  const label = draws.happens(`${name} label`, WITH_LABEL) ? draws.pick(`${name} label is`, LABELS) : '';
  const percent = draws.happens(`${name} bound`, BOUNDED) ? draws.pick(`${name} bound percent`, BOUNDS) : undefined;
  const price = (NANOS_PER_SECOND[resolution] ?? 0n) * BigInt(seconds);
  const maxNanos = percent === undefined ? undefined : (price * percent) / 100n;
  orders.open({
    ...{ order: name, caller: { account: RICH.id, token: token.key }, key, label, isRemix: false },
    ...{ resolution, seconds, inputSeconds: 0, maxNanos },
  });
  orders.sent(name, false);
  const picture = {
    ...{ kind: MediaKind.IMAGE, role: MediaRole.FIRST_FRAME },
    url: `https://pictures.example/${name}.png`,
  };
  const webhookUrl = draws.happens(`${name} webhook`, WITH_WEBHOOK) ? draws.pick(`${name} receiver`, RECEIVERS) : '';
  const hasPicture = draws.happens(`${name} picture`, WITH_PICTURE);
  return {
    ...{ name, key, isTooDear: percent !== undefined && percent < TOO_DEAR_PERCENT },
    describe: (prompt) => ({
      ...{ accountId: RICH.id, tokenId: token.id, idempotencyKey: key, label, webhookUrl },
      ...(maxNanos === undefined ? {} : { maxAmountNanos: maxNanos, currency: 'USD' }),
      order: {
        ...{ kind: TaskKind.GENERATION, model, resolution, duration: seconds },
        ratio: draws.pick(`${name} ratio`, RATIOS),
        content: [
          { item: { case: 'text', value: `${prompt} [${name}]` } },
          ...(hasPicture ? [{ item: { case: 'media' as const, value: picture } }] : []),
        ],
      },
    }),
  };
}

/** Returns the id of the task. Undefined if the order is refused, or no answer came and it has no key. */
async function createUntilAnswered(world: World, order: RpcOrder, name: string): Promise<string | undefined> {
  const { scheduler, draws, faults, rules } = world;
  const { key } = order;
  const request = order.describe(PROMPT);
  let refusals = 0;
  for (let create = 1; create <= CREATES_MAX; create += 1) {
    const leaves = faults.happens('client leaves', `${name} create ${create}`, LEFT_EARLY);
    const leaveAfterMs = leaves ? draws.whole(`${name} create ${create} leave`, 0, LEAVE_MS_MAX) : undefined;
    const answer = await callTasks(world, name, { method: TaskService.method.createTask, request }, { leaveAfterMs });
    if (answer?.message?.task !== undefined) {
      const task = readWireTask(answer.message.task);
      rules.promised({ order: order.name, account: RICH.id, key }, task);
      return task.id;
    }
    if (answer !== undefined) checkBound(world, order, answer.text);
    if (answer === undefined ? key === '' : !mayRepeat(answer)) return undefined;
    if (answer?.status === 429) refusals += 1;
    if (refusals === REFUSALS_MAX) return undefined;
    const retryMs = draws.whole(`${name} create ${create} retry`, RETRY_MS.least, RETRY_MS.most);
    await scheduler.pause(retryMs * computeRetryFactor(refusals));
  }
  return undefined;
}

function checkBound({ rules, acts }: World, { name, isTooDear }: RpcOrder, refusal: string): void {
  if (!ABOVE_BOUND.test(refusal)) return;
  if (isTooDear) acts.note('an order over gRPC above its bound is refused');
  else rules.break('an order within its bound is accepted', name);
}

/** A key belongs to its task: a list by the key has the task alone, and another order with the key is refused. */
async function tryKey(world: World, { name, key, describe }: RpcOrder, taskId: string): Promise<void> {
  const { draws, rules, acts } = world;
  const { listTasks, createTask } = TaskService.method;
  // a restore can take the task back, and then the key is free
  const isTakenBack = (): boolean => rules.findOrder(taskId) === undefined;
  const listed = await callTasks(world, `${name} list`, {
    ...{ method: listTasks, request: { accountId: RICH.id, idempotencyKey: key } },
  });
  if (listed?.message !== undefined) {
    const ids = listed.message.tasks.map(({ id }) => id).join();
    if (ids !== taskId && !isTakenBack())
      rules.break('a list by a key has its task', `${name}, ${key}: ${ids}, must be ${taskId}`);
    acts.note('a task is listed by its key');
  }
  if (isTakenBack() || !draws.happens(`${name} other order`, OTHER_ORDERS)) return;
  const answer = await callTasks(world, `${name} other order`, {
    ...{ method: createTask, request: describe(OTHER_PROMPT) },
  });
  if (answer?.message !== undefined) rules.break('a key with another body is refused', `${key}: ${answer.text}`);
  if (answer?.status === 409 || answer?.status === 422) acts.note('a key over gRPC with another order is refused');
}

async function readUntilEnd(world: World, name: string, taskId: string): Promise<SeenTask | undefined> {
  const { scheduler, draws, rules } = world;
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    await scheduler.pause(draws.whole(`${name} read ${reads}`, READ_APART_MS.least, READ_APART_MS.most));
    const sentAt = scheduler.now();
    const request = { accountId: RICH.id, taskId };
    const answer = await callTasks(world, name, { method: TaskService.method.getTask, request });
    if (answer?.status === 404) rules.missing(taskId);
    if (answer?.message?.task === undefined) continue;
    const task = readWireTask(answer.message.task);
    rules.read('grpc', task, sentAt);
    if (isFinal(task)) return task;
  }
  return undefined;
}

async function cancel(world: World, name: string, taskId: string): Promise<void> {
  const { scheduler, draws, rules, acts } = world;
  await scheduler.pause(draws.whole(`${name} cancel after`, CANCEL_MS.least, CANCEL_MS.most));
  const sentAt = scheduler.now();
  const request = { accountId: RICH.id, taskId };
  const answer = await callTasks(world, `${name} cancel`, { method: TaskService.method.cancelTask, request });
  if (answer?.message?.task === undefined) return;
  const task = readWireTask(answer.message.task);
  rules.read('grpc', task, sentAt);
  if (task.status === 'failed') acts.note('a cancel over gRPC succeeds');
}

/** The team asks in the name of another account, and for a task of another account in the name of its own. */
async function askForOthers(world: World, name: string, taskId: string): Promise<void> {
  const { rules, acts } = world;
  const { getTask, cancelTask } = TaskService.method;
  const asOther = await callTasks(world, `${name} as other`, {
    ...{ method: getTask, request: { accountId: POOR.id, taskId } },
  });
  if (asOther !== undefined && asOther.status !== ACCOUNT_REFUSED && asOther.status < 500)
    rules.break('a caller asks only in the name of its accounts', `${name}: ${asOther.status} ${asOther.text}`);
  if (asOther?.status === ACCOUNT_REFUSED) acts.note('a call in the name of another account is refused');
  const foreign = rules.list().find(({ account }) => account !== RICH.id);
  if (foreign === undefined) return;
  const request = { accountId: RICH.id, taskId: foreign.id };
  const answers = [
    await callTasks(world, `${name} foreign`, { method: getTask, request }),
    await callTasks(world, `${name} foreign`, { method: cancelTask, request }),
  ];
  for (const answer of answers) if (answer !== undefined) rules.askedByOther(foreign.id, answer.status);
}
