import { CLIENT_DIALECTS, isFinal, readSeenTask } from './dialects.ts';
import type { ClientDialect, ClientOrder, SeenTask } from './dialects.ts';
import { RECEIVERS } from './receivers.ts';
import { DURATIONS, MODELS, NANOS_PER_SECOND, POOR, RATIOS, REMIXED_MODEL, REVOKED, RICH } from './simulated-config.ts';
import type { HttpAnswer, HttpOrder } from './simulated-http.ts';
import { computeRetryFactor, mayRepeat, sendOrder } from './world.ts';
import type { World } from './world.ts';

const CLIENTS = 6;
const ORDERS_EACH = 12;
/** The names of the orders of a run. */
export const ORDERS: readonly string[] = Array.from({ length: CLIENTS * ORDERS_EACH }, (_none, at) => `order-${at}`);
const APART_MS_MAX = 5000;
const WITH_KEY = 0.75;
const REPEATED = 0.3;
/** Of the orders with a key, this part sends the key again with another order. */
const OTHER_BODIES = 0.15;
const WITH_PICTURE = 0.2;
const WITH_WEBHOOK = 0.3;
const CANCELLED = 0.35;
const CANCELLED_TWICE = 0.4;
/** Of the cancels, this part comes when the first poll of the task is due. */
const AT_FIRST_POLL = 0.7;
const FIRST_POLL_MS = { least: 2300, most: 3000 };
const LEFT_EARLY = 0.15;
const LEAVE_MS_MAX = 1500;
const READ_APART_MS = { least: 1000, most: 8000 };
const WAITING_READS = 0.2;
/** Of the clients without enough money, this part tries again until somebody pays in. */
const WAITS_FOR_MONEY = 0.3;
const PREFERENCES = 0.2;
const LATER_MS_MAX = 40_000;
const BOUNDED = 0.2;
/** The bounds of prices, in percent of the price. */
const BOUNDS: readonly bigint[] = [50n, 99n, 100n, 200n];
const ABOVE_BOUND = /price_above_max/;
const NO_MONEY = /insufficient/;
const RETRY_MS = { least: 500, most: 6000 };
const REMIXED = 0.25;
const DELETED = 0.15;
const CONTENT_READ = 0.3;
/** What a result that is kept is never answered with. */
const GONE: ReadonlySet<number> = new Set([400, 404, 409, 410, 422]);
/** A client gives an order up after this many creates without an answer. */
const CREATES_MAX = 30;
/** And after this many refusals by a limit, which are about a minute and a half. */
const REFUSALS_MAX = 8;
/** And a task after this many reads: it waits for a person. */
const READS_MAX = 20;

/** A token and the account that it belongs to. */
interface Caller {
  readonly account: string;
  readonly token: string;
}

interface Order {
  readonly name: string;
  readonly caller: Caller;
  /** Empty: none. */
  readonly key: string;
  readonly request: Pick<HttpOrder, 'path' | 'body'>;
  /** True if its bound is below its price. */
  readonly isTooDear: boolean;
}

/** A task that a client was told of. */
interface Promised {
  readonly order: string;
  readonly caller: Caller;
  readonly taskId: string;
}

/** Runs every client to its end: it has ordered, and each of its tasks has ended or waits for a person. */
export async function runClients(world: World): Promise<void> {
  const { scheduler, draws, faults } = world;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_none, client) => {
      const orders: Promise<void>[] = [];
      for (let number = 0; number < ORDERS_EACH; number += 1) {
        const name = ORDERS[client * ORDERS_EACH + number]!;
        await scheduler.pause(draws.whole(`${name} wait`, 0, APART_MS_MAX));
        if (!faults.isLeftOut(name)) orders.push(runOrder(world, drawCaller(world, client, name), name));
      }
      await Promise.all(orders);
    }),
  );
}

/** The fifth client has little credit, and the token of the sixth is revoked on the way. */
function drawCaller({ draws }: World, client: number, name: string): Caller {
  if (client === 4) return { account: POOR.id, token: POOR.keys[0] };
  if (client === 5) return { account: REVOKED.id, token: REVOKED.keys[0] };
  return { account: RICH.id, token: draws.pick(`${name} token`, RICH.keys) };
}

function drawOrder({ draws }: World, name: string, words: string): ClientOrder {
  const model = draws.pick(`${name} model`, Object.keys(MODELS));
  return {
    model,
    prompt: `a fox in the snow [${name}]${words}`,
    seconds: draws.pick(`${name} duration`, DURATIONS),
    resolution: draws.pick(`${name} resolution`, Object.keys(MODELS[model] ?? {})),
    ratio: draws.pick(`${name} ratio`, RATIOS),
    picture: draws.happens(`${name} picture`, WITH_PICTURE) ? `https://pictures.example/${name}.png` : undefined,
    webhookUrl: draws.happens(`${name} webhook`, WITH_WEBHOOK) ? draws.pick(`${name} receiver`, RECEIVERS) : undefined,
    maxAmount: undefined,
  };
}

/** The order with a bound of its price, and whether the bound is below the price. */
function drawBound({ draws }: World, name: string, order: ClientOrder): readonly [ClientOrder, boolean] {
  if (!draws.happens(`${name} bound`, BOUNDED)) return [order, false];
  const percent = draws.pick(`${name} bound percent`, BOUNDS);
  const price = (NANOS_PER_SECOND[order.resolution] ?? 0n) * BigInt(order.seconds);
  return [{ ...order, maxAmount: (Number((price * percent) / 100n) / 1e9).toFixed(9) }, percent < 100n];
}

async function runOrder(world: World, caller: Caller, name: string): Promise<void> {
  const { draws } = world;
  const dialect = draws.pick(`${name} dialect`, CLIENT_DIALECTS);
  const key = draws.happens(`${name} key`, WITH_KEY) ? `key-of-${name}` : '';
  const drawn = drawOrder(world, name, '');
  const [described, isTooDear] = dialect.hasMaxAmount ? drawBound(world, name, drawn) : [drawn, false];
  const order: Order = { name, caller, key, request: dialect.create(described), isTooDear };
  if (isTooDear) world.rules.tooDear(name);
  const isRepeated = key !== '' && draws.happens(`${name} repeat`, REPEATED);
  // the second create runs beside the first one
  const creates = [createUntilAnswered(world, order)];
  if (isRepeated) creates.push(createUntilAnswered(world, { ...order, name: `${name} again` }, name));
  const [taskId] = await Promise.all(creates);
  if (taskId === undefined) return;
  if (key !== '' && draws.happens(`${name} other body`, OTHER_BODIES))
    await createOther(world, { ...order, request: dialect.create(drawOrder(world, name, ' at night')) });
  const promised: Promised = { order: name, caller, taskId };
  const cancels = draws.happens(`${name} cancel`, CANCELLED) ? [cancel(world, promised)] : [];
  if (cancels.length > 0 && draws.happens(`${name} cancel twice`, CANCELLED_TWICE))
    cancels.push(cancel(world, promised));
  const [seen] = await Promise.all([readUntilEnd(world, promised, dialect), ...cancels]);
  if (seen?.status === 'completed') await useResult(world, promised, described.model === REMIXED_MODEL);
}

/** Looks at a finished video, orders a variation of it, and removes it. */
async function useResult(world: World, promised: Promised, mayRemix: boolean): Promise<void> {
  const { draws } = world;
  const { order } = promised;
  if (draws.happens(`${order} content`, CONTENT_READ)) await readContent(world, promised);
  if (mayRemix && draws.happens(`${order} remix`, REMIXED)) await remix(world, promised);
  if (draws.happens(`${order} delete`, DELETED)) await remove(world, promised);
}

/** Returns the id of the task; undefined if the order was refused, or no answer came and the client has no key. */
async function createUntilAnswered(world: World, sent: Order, order = sent.name): Promise<string | undefined> {
  const { scheduler, draws, faults, rules } = world;
  const { name, caller, key, request } = sent;
  const waitsForMoney = draws.happens(`${name} waits for money`, WAITS_FOR_MONEY);
  const prefer = draws.happens(`${name} preference`, PREFERENCES) ? drawPreference(world, name) : undefined;
  let refusals = 0;
  for (let create = 1; create <= CREATES_MAX; create += 1) {
    const leaves = faults.happens('client leaves', `${name} create ${create}`, LEFT_EARLY);
    const leaveAfterMs = leaves ? draws.whole(`${name} create ${create} leave`, 0, LEAVE_MS_MAX) : undefined;
    const answer = await sendOrder(world, name, post(caller, request, key, prefer), { leaveAfterMs });
    checkBound(world, sent, answer);
    if (answer !== undefined && answer.status < 300) {
      const task = readSeenTask(answer);
      rules.promised({ order, account: caller.account, key }, task);
      return task.id;
    }
    // without a key, a lost answer is not repeated
    if (answer === undefined ? key === '' : isFinalRefusal(answer, waitsForMoney)) return undefined;
    if (answer?.status === 429) refusals += 1;
    if (refusals === REFUSALS_MAX) return undefined;
    const retryMs = draws.whole(`${name} create ${create} retry`, RETRY_MS.least, RETRY_MS.most);
    await scheduler.pause(retryMs * computeRetryFactor(refusals));
  }
  return undefined;
}

function checkBound({ rules }: World, { name, isTooDear }: Order, answer: HttpAnswer | undefined): void {
  if (!isTooDear && ABOVE_BOUND.test(answer?.text ?? '')) rules.break('an order within its bound is accepted', name);
}

function isFinalRefusal(answer: HttpAnswer, waitsForMoney: boolean): boolean {
  return !mayRepeat(answer) || (NO_MONEY.test(answer.text) && !waitsForMoney);
}

/** A wish for its wait while no channel takes it. */
function drawPreference({ draws, scheduler }: World, name: string): string {
  const later = new Date(scheduler.now() + draws.whole(`${name} not before`, 1, LATER_MS_MAX)).toISOString();
  return draws.pick(`${name} prefers`, [
    ...['queue=none', 'queue=wait', 'class=interactive', 'class=batch', 'start-within=10'],
    ...[`not-before="${later}"`, `class=batch, not-before="${later}", start-within=30`],
  ]);
}

const post = (
  { token }: Caller,
  { path, body }: Pick<HttpOrder, 'path' | 'body'>,
  key = '',
  prefer?: string,
): HttpOrder => ({
  ...{ method: 'POST', path, key: token, body },
  headers: { ...(key === '' ? {} : { 'idempotency-key': key }), ...(prefer === undefined ? {} : { prefer }) },
});

/** A key that belongs to a task never makes another one. */
async function createOther(world: World, { name, caller, key, request }: Order): Promise<void> {
  const answer = await sendOrder(world, `${name} other body`, post(caller, request, key));
  if (answer !== undefined && answer.status < 300)
    world.rules.break('a key with another body is refused', `${key}: ${answer.text}`);
}

async function readUntilEnd(
  world: World,
  { order, caller, taskId }: Promised,
  dialect: ClientDialect,
): Promise<SeenTask | undefined> {
  const { scheduler, draws, rules } = world;
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    await scheduler.pause(draws.whole(`${order} read ${reads}`, READ_APART_MS.least, READ_APART_MS.most));
    const waits = draws.happens(`${order} read ${reads} waits`, WAITING_READS);
    const answer = await sendOrder(world, order, {
      ...{ method: 'GET', path: dialect.read(taskId), key: caller.token },
      headers: waits ? { prefer: 'wait=5' } : {},
    });
    // a revoked token reads nothing
    if (answer?.status === 401) return undefined;
    if (answer?.status === 404) rules.missing(taskId);
    if (answer?.status !== 200) continue;
    const task = readSeenTask(answer);
    rules.read(dialect.name, task);
    if (isFinal(task)) return task;
  }
  return undefined;
}

async function cancel(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { scheduler, draws, rules } = world;
  const { least, most } = draws.happens(`${order} cancel at poll`, AT_FIRST_POLL)
    ? FIRST_POLL_MS
    : { least: 0, most: READ_APART_MS.most };
  await scheduler.pause(draws.whole(`${order} cancel after`, least, most));
  const path = `/v1/videos/${taskId}/cancel`;
  const answer = await sendOrder(world, `${order} cancel`, { method: 'POST', path, key: caller.token });
  if (answer?.status === 200) rules.read('openai', readSeenTask(answer));
}

async function readContent(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const path = `/v1/videos/${taskId}/content`;
  const answer = await sendOrder(world, `${order} content`, { method: 'GET', path, key: caller.token });
  if (answer !== undefined && GONE.has(answer.status))
    world.rules.break('the result of a completed task can be read', `${taskId}: ${answer.status} ${answer.text}`);
}

async function remix(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const name = `${order}-remix`;
  const body = { model: REMIXED_MODEL, resolution: '2K' };
  const request = world.draws.happens(`${name} by the vendor's route`, 0.5)
    ? { path: '/v2/video_regeneration', body: { ...body, source_task_id: taskId } }
    : { path: `/v1/videos/${taskId}/remix`, body };
  const remixed = await createUntilAnswered(world, { name, caller, key: `key-of-${name}`, request, isTooDear: false });
  if (remixed !== undefined) await readUntilEnd(world, { order: name, caller, taskId: remixed }, CLIENT_DIALECTS[0]!);
}

async function remove(world: World, { order, caller, taskId }: Promised): Promise<void> {
  world.rules.removed(taskId);
  await sendOrder(world, `${order} delete`, { method: 'DELETE', path: `/v1/videos/${taskId}`, key: caller.token });
}
