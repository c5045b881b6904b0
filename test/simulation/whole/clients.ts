import { CLIENT_DIALECTS, isFinal, readSeenTask } from './dialects.ts';
import type { ClientDialect, ClientOrder, SeenTask } from './dialects.ts';
import { REFERENCE_SECONDS } from './upstream-hosts.ts';
import { RECEIVERS } from './receivers.ts';
import { VIDEOS_HOST } from './simulated-backends.ts';
import {
  DURATIONS,
  MODELS,
  NANOS_PER_SECOND,
  POOR,
  RATIOS,
  REMIXED_MODEL,
  REVOKED,
  RICH,
  TEAM,
} from './simulated-config.ts';
import type { Caller } from './simulated-config.ts';
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
/** And this part sends it again with the same order in another dialect. */
const OTHER_PATHS = 0.15;
const WITH_PICTURE = 0.2;
const WITH_VIDEO = 0.2;
const WITH_WEBHOOK = 0.3;
const WITH_LABEL = 0.4;
const LABELS = ['spring', 'autumn/2026', 'team:7'] as const;
const CANCELLED = 0.35;
const CANCELLED_TWICE = 0.4;
/** Of the cancels, this part comes when the first poll of the task is due. */
const AT_FIRST_POLL = 0.7;
const FIRST_POLL_MS = { least: 2300, most: 3000 };
const LEFT_EARLY = 0.15;
const LEAVE_MS_MAX = 1500;
const READ_APART_MS = { least: 1000, most: 8000 };
const WAITING_READS = 0.2;
/** Of the tasks, this part is asked for by a client of another account. */
const ASKED_BY_OTHERS = 0.2;
/** Of the clients without enough money, this part tries again until somebody pays in. */
const WAITS_FOR_MONEY = 0.3;
const PREFERENCES = 0.2;
const LATER_MS_MAX = 40_000;
const BOUNDED = 0.2;
/** The bounds of prices, in percent of the price. The dearest table of prices has 130 percent. */
const BOUNDS: readonly bigint[] = [20n, 30n, 130n, 200n];
const TOO_DEAR_PERCENT = 40n;
const ABOVE_BOUND = /price_above_max/;
const NO_MONEY = /insufficient/;
const ABOVE_TOKEN_LIMIT = /of its limit left/;
const IN_FLIGHT = /in flight|at its limit/;
const RETRY_MS = { least: 500, most: 6000 };
const REMIXED = 0.5;
const REMIXED_AGAIN = 0.4;
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
/** And its removal after this many requests. */
const REMOVES_MAX = 15;
/** After this time, every process has to know of a removal. */
const REMOVED_READ_MS = 6000;

interface Order {
  readonly name: string;
  readonly caller: Caller;
  /** Empty if the order has no key. */
  readonly key: string;
  readonly label: string;
  readonly request: Pick<HttpOrder, 'path' | 'body'>;
  /** True if its bound is below every price that it can have. */
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

/**
 * The fourth client has the tokens that the team's token has made, the fifth little credit, and the token of the sixth is
 * revoked on the way.
 */
function drawCaller({ draws, team }: World, client: number, name: string): Caller {
  if (client === 3 && team.tokens().length > 0) return draws.pick(`${name} made token`, team.tokens());
  if (client === 3) return { account: TEAM.id, token: TEAM.keys[0] };
  if (client === 4) return { account: POOR.id, token: POOR.keys[0] };
  if (client === 5) return { account: REVOKED.id, token: REVOKED.keys[0] };
  return { account: RICH.id, token: draws.pick(`${name} token`, RICH.keys) };
}

function drawOrder({ draws }: World, name: string, words: string): ClientOrder {
  const model = draws.pick(`${name} model`, Object.keys(MODELS));
  const hasPicture = draws.happens(`${name} picture`, WITH_PICTURE);
  // the second upstream takes no video
  const hasVideo = !hasPicture && model === REMIXED_MODEL && draws.happens(`${name} video`, WITH_VIDEO);
  return {
    model,
    prompt: `a fox in the snow [${name}]${words}`,
    seconds: draws.pick(`${name} duration`, DURATIONS),
    resolution: draws.pick(`${name} resolution`, Object.keys(MODELS[model] ?? {})),
    ratio: draws.pick(`${name} ratio`, RATIOS),
    picture: hasPicture ? `https://pictures.example/${name}.png` : undefined,
    video: hasVideo ? `https://${VIDEOS_HOST}/${name}.mp4?seconds=${REFERENCE_SECONDS}` : undefined,
    webhookUrl: draws.happens(`${name} webhook`, WITH_WEBHOOK) ? draws.pick(`${name} receiver`, RECEIVERS) : undefined,
    maxAmount: undefined,
  };
}

/** A bound of the price of an order, which may be below every price that it can have. */
interface Bound {
  readonly nanos: bigint;
  readonly isTooDear: boolean;
}

function drawBound({ draws }: World, name: string, order: ClientOrder): Bound | undefined {
  if (!draws.happens(`${name} bound`, BOUNDED)) return undefined;
  const percent = draws.pick(`${name} bound percent`, BOUNDS);
  const price = (NANOS_PER_SECOND[order.resolution] ?? 0n) * BigInt(order.seconds);
  return { nanos: (price * percent) / 100n, isTooDear: percent < TOO_DEAR_PERCENT };
}

async function runOrder(world: World, caller: Caller, name: string): Promise<void> {
  const { draws, acts } = world;
  const dialect = draws.pick(`${name} dialect`, CLIENT_DIALECTS);
  const key = draws.happens(`${name} key`, WITH_KEY) ? `key-of-${name}` : '';
  const label = draws.happens(`${name} label`, WITH_LABEL) ? draws.pick(`${name} label is`, LABELS) : '';
  const drawn = drawOrder(world, name, '');
  // how much a reference video adds is not known before it is fetched
  const bound = dialect.hasMaxAmount && drawn.video === undefined ? drawBound(world, name, drawn) : undefined;
  const described = bound === undefined ? drawn : { ...drawn, maxAmount: (Number(bound.nanos) / 1e9).toFixed(9) };
  const isTooDear = bound?.isTooDear === true;
  const order: Order = { name, caller, key, label, request: dialect.create(described), isTooDear };
  world.orders.open({
    ...{ order: name, caller, key, label, isRemix: false, maxNanos: bound?.nanos },
    ...{ resolution: drawn.resolution, seconds: drawn.seconds },
    inputSeconds: drawn.video === undefined ? 0 : REFERENCE_SECONDS,
  });
  if (isTooDear) world.rules.tooDear(name);
  const isRepeated = key !== '' && draws.happens(`${name} repeat`, REPEATED);
  // the second create runs beside the first one
  const creates = [createUntilAnswered(world, order)];
  if (isRepeated) creates.push(createUntilAnswered(world, { ...order, name: `${name} again` }, name));
  const [taskId] = await Promise.all(creates);
  // a create without an answer can still be on its way to a process that stands still
  if (taskId === undefined) return;
  world.orders.answered(name);
  noteAccepted(world, dialect, drawn);
  if (bound !== undefined && !isTooDear) acts.note('an order within its bound is accepted');
  if (caller.account === TEAM.id && caller.token !== TEAM.keys[0]) acts.note('a made token orders');
  if (key !== '') await repeatKeyOtherwise(world, { order, taskId, dialect, described });
  await followTask(world, { order: name, caller, taskId }, { dialect, model: drawn.model });
}

function noteAccepted({ acts }: World, dialect: ClientDialect, { picture, video }: ClientOrder): void {
  acts.note(`an order is accepted by ${dialect.name}`);
  if (picture !== undefined) acts.note('a picture is taken');
  if (video !== undefined) acts.note('a reference video is taken');
}

/** Cancels, reads and uses a task that its client was told of. */
async function followTask(
  world: World,
  promised: Promised,
  { dialect, model }: { readonly dialect: ClientDialect; readonly model: string },
): Promise<void> {
  const { draws, acts } = world;
  const { order } = promised;
  const cancels = draws.happens(`${order} cancel`, CANCELLED) ? [cancel(world, promised)] : [];
  if (cancels.length > 0 && draws.happens(`${order} cancel twice`, CANCELLED_TWICE))
    cancels.push(cancel(world, promised));
  if (draws.happens(`${order} asked by other`, ASKED_BY_OTHERS)) cancels.push(askAsOther(world, promised, dialect));
  const [seen] = await Promise.all([readUntilEnd(world, promised, dialect), ...cancels]);
  if (seen?.status === 'failed') acts.note('a task fails');
  if (seen?.status !== 'completed') return;
  acts.note('a task completes');
  await useResult(world, promised, model === REMIXED_MODEL);
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
  const { scheduler, draws, faults, rules, orders, variation } = world;
  const { name, caller, key } = sent;
  const waitsForMoney = draws.happens(`${name} waits for money`, WAITS_FOR_MONEY);
  const prefer = draws.happens(`${name} preference`, PREFERENCES) ? drawPreference(world, name) : undefined;
  for (const isBatch of listClasses(variation, caller, prefer)) orders.sent(order, isBatch);
  let refusals = 0;
  for (let create = 1; create <= CREATES_MAX; create += 1) {
    const leaves = faults.happens('client leaves', `${name} create ${create}`, LEFT_EARLY);
    const leaveAfterMs = leaves ? draws.whole(`${name} create ${create} leave`, 0, LEAVE_MS_MAX) : undefined;
    const answer = await sendOrder(world, name, buildCreate(sent, prefer), { leaveAfterMs });
    if (answer !== undefined) checkRefusal(world, sent, answer);
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

/** The classes of the price of a create: true for `batch`. A create that does not wait may have no class. */
function listClasses({ longestWait, tokenQueue }: World['variation'], { token }: Caller, prefer = ''): boolean[] {
  if (longestWait === undefined) return [false];
  const isOfToken = token === RICH.keys.at(-1) && tokenQueue?.class === 'batch';
  const isBatch = isOfToken || prefer.includes('class=batch');
  return isBatch && prefer.includes('queue=none') ? [true, false] : [isBatch];
}

function checkRefusal({ rules, acts }: World, { name, caller, isTooDear }: Order, { status, text }: HttpAnswer): void {
  if (ABOVE_BOUND.test(text)) {
    if (isTooDear) acts.note('an order above its bound is refused');
    else rules.break('an order within its bound is accepted', name);
  }
  if (status < 400) return;
  if (ABOVE_TOKEN_LIMIT.test(text)) {
    acts.note(
      caller.account === TEAM.id
        ? 'the limit of a maker refuses its tree'
        : 'an order above the limit of its token is refused',
    );
  } else if (NO_MONEY.test(text)) acts.note('an order without money is refused');
  else if (IN_FLIGHT.test(text)) acts.note('an order above a limit of tasks in flight is refused');
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

function buildCreate({ caller, key, label, request }: Order, prefer?: string): HttpOrder {
  return {
    ...{ method: 'POST', path: request.path, key: caller.token, body: request.body },
    headers: {
      ...(key === '' ? {} : { 'idempotency-key': key }),
      ...(label === '' ? {} : { 'reelgate-label': label }),
      ...(prefer === undefined ? {} : { prefer }),
    },
  };
}

/** An order whose key belongs to a task. */
interface KeyedOrder {
  readonly order: Order;
  readonly taskId: string;
  readonly dialect: ClientDialect;
  readonly described: ClientOrder;
}

/** A key that belongs to a task never makes another one: neither with another order, nor in another dialect. */
async function repeatKeyOtherwise(world: World, keyed: KeyedOrder): Promise<void> {
  const { draws, rules, scheduler } = world;
  const { name } = keyed.order;
  const promisedAt = scheduler.now();
  if (draws.happens(`${name} other body`, OTHER_BODIES)) await repeatWithOtherBody(world, keyed);
  // a restore can take the task back meanwhile, and then the key is free
  if (rules.isForgotten(promisedAt)) return;
  if (draws.happens(`${name} other path`, OTHER_PATHS)) await repeatOnOtherPath(world, keyed);
}

const isKeyRefusal = ({ status }: HttpAnswer): boolean => status === 422 || status === 409;

async function repeatWithOtherBody(world: World, { order, dialect }: KeyedOrder): Promise<void> {
  const other = { ...order, request: dialect.create(drawOrder(world, order.name, ' at night')) };
  const answer = await sendOrder(world, `${order.name} other body`, buildCreate(other));
  if (answer === undefined) return;
  if (answer.status < 300) world.rules.break('a key with another body is refused', `${order.key}: ${answer.text}`);
  if (isKeyRefusal(answer)) world.acts.note('a key with another body is refused');
}

async function repeatOnOtherPath(world: World, { order, taskId, dialect, described }: KeyedOrder): Promise<void> {
  const others = CLIENT_DIALECTS.filter((one) => one !== dialect);
  const other = world.draws.pick(`${order.name} other dialect`, others);
  const create = buildCreate({ ...order, request: other.create(described) });
  const answer = await sendOrder(world, `${order.name} other path`, create);
  if (answer === undefined) return;
  const isSame = answer.status < 300 && readSeenTask(answer).id === taskId;
  if (answer.status < 300 && !isSame)
    world.rules.break('a key makes one task', `${order.key} by ${other.name}: ${taskId}, then ${answer.text}`);
  if (isSame || isKeyRefusal(answer)) world.acts.note('a key is repeated on another path');
}

async function readUntilEnd(
  world: World,
  { order, caller, taskId }: Promised,
  dialect: ClientDialect,
): Promise<SeenTask | undefined> {
  const { scheduler, draws, rules, acts } = world;
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    await scheduler.pause(draws.whole(`${order} read ${reads}`, READ_APART_MS.least, READ_APART_MS.most));
    const waits = draws.happens(`${order} read ${reads} waits`, WAITING_READS);
    const sentAt = scheduler.now();
    const answer = await sendOrder(world, order, {
      ...{ method: 'GET', path: dialect.read(taskId), key: caller.token },
      headers: waits ? { prefer: 'wait=5' } : {},
    });
    // a revoked token reads nothing
    if (answer?.status === 401) return undefined;
    if (answer?.status === 404) rules.missing(taskId);
    if (answer?.status !== 200) continue;
    const task = readSeenTask(answer);
    rules.read(dialect.name, task, sentAt);
    rules.found(taskId, sentAt, answer.process);
    if (answer.text.includes('"queue":')) acts.note('an order waits for a channel');
    if (isFinal(task)) return task;
  }
  return undefined;
}

async function cancel(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { scheduler, draws, rules, acts } = world;
  const { least, most } = draws.happens(`${order} cancel at poll`, AT_FIRST_POLL)
    ? FIRST_POLL_MS
    : { least: 0, most: READ_APART_MS.most };
  await scheduler.pause(draws.whole(`${order} cancel after`, least, most));
  const sentAt = scheduler.now();
  const path = `/v1/videos/${taskId}/cancel`;
  const answer = await sendOrder(world, `${order} cancel`, { method: 'POST', path, key: caller.token });
  if (answer?.status !== 200) return;
  const task = readSeenTask(answer);
  rules.read('openai', task, sentAt);
  if (task.status === 'failed') acts.note('a cancel succeeds');
}

/** A client of another account tries the id of a task: it reads it, cancels it, loads its result, and removes it. */
async function askAsOther(world: World, { order, caller, taskId }: Promised, dialect: ClientDialect): Promise<void> {
  const { scheduler, draws, rules } = world;
  await scheduler.pause(draws.whole(`${order} asked after`, 0, READ_APART_MS.most));
  const key = caller.account === RICH.id ? POOR.keys[0] : RICH.keys[0];
  const read = `/v1/videos/${taskId}`;
  for (const [method, path] of [
    ['GET', dialect.read(taskId)],
    ['GET', `${read}/content`],
    ['POST', `${read}/cancel`],
    ['DELETE', read],
  ] as const) {
    const answer = await sendOrder(world, `${order} asked by other`, { method, path, key });
    if (answer !== undefined) rules.askedByOther(taskId, answer.status);
  }
}

async function readContent(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { rules, scheduler } = world;
  const seenAt = scheduler.now();
  const path = `/v1/videos/${taskId}/content`;
  const answer = await sendOrder(world, `${order} content`, { method: 'GET', path, key: caller.token });
  if (answer?.status === 200) world.acts.note('a result is read');
  if (answer !== undefined && GONE.has(answer.status) && !rules.isForgotten(seenAt))
    rules.break('the result of a completed task can be read', `${taskId}: ${answer.status} ${answer.text}`);
}

/** Orders a variation of a video, and now and then one of the variation, which is no generation and so is refused. */
async function remix(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { draws, acts, orders } = world;
  const name = `${order}-remix`;
  const source = orders.find(order);
  if (source === undefined) return;
  const request = describeRemix(world, name, taskId);
  orders.open({
    ...source,
    order: name,
    key: `key-of-${name}`,
    label: '',
    isRemix: true,
    inputSeconds: 0,
    maxNanos: undefined,
  });
  const remixed = await createUntilAnswered(world, {
    ...{ name, caller, key: `key-of-${name}`, label: '', request, isTooDear: false },
  });
  if (remixed === undefined) return;
  orders.answered(name);
  acts.note('a remix is accepted');
  const seen = await readUntilEnd(world, { order: name, caller, taskId: remixed }, CLIENT_DIALECTS[0]!);
  if (seen?.status !== 'completed') return;
  acts.note('a remix completes');
  if (!draws.happens(`${name} again`, REMIXED_AGAIN)) return;
  const again = await sendOrder(world, `${name} again`, {
    ...{ method: 'POST', key: caller.token },
    ...describeRemix(world, `${name} again`, remixed),
  });
  if (again !== undefined && again.status < 300)
    world.rules.break('a remix of a remix is refused', `${remixed}: ${again.text}`);
  if (again?.status === 400 || again?.status === 422) acts.note('a remix of a remix is refused');
}

function describeRemix({ draws }: World, name: string, taskId: string): Pick<HttpOrder, 'path' | 'body'> {
  const body = { model: REMIXED_MODEL, resolution: '2K' };
  return draws.happens(`${name} by the vendor's route`, 0.5)
    ? { path: '/v2/video_regeneration', body: { ...body, source_task_id: taskId } }
    : { path: `/v1/videos/${taskId}/remix`, body };
}

/** Repeats the removal until it is answered: a removal whose answer is lost, or that was interrupted, may have begun. */
async function remove(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { scheduler, draws, rules } = world;
  // afterwards several processes know it
  for (const dialect of CLIENT_DIALECTS)
    await sendOrder(world, `${order} known`, { method: 'GET', path: dialect.read(taskId), key: caller.token });
  rules.removing(taskId);
  for (let removes = 1; removes <= REMOVES_MAX; removes += 1) {
    const path = `/v1/videos/${taskId}`;
    const answer = await sendOrder(world, `${order} delete`, { method: 'DELETE', path, key: caller.token });
    if (answer !== undefined && !mayRepeat(answer)) {
      if (answer.status !== 200 && answer.status !== 404) return;
      rules.removed(taskId, answer.process);
      await readRemoved(world, { order, caller, taskId });
      return;
    }
    await scheduler.pause(draws.whole(`${order} delete ${removes}`, RETRY_MS.least, RETRY_MS.most));
  }
}

/** Reads a task in every dialect once its removal was answered, and once more later. Any of the processes answers. */
async function readRemoved(world: World, { order, caller, taskId }: Promised): Promise<void> {
  const { scheduler, rules } = world;
  for (const waitMs of [0, REMOVED_READ_MS]) {
    await scheduler.pause(waitMs);
    for (const dialect of CLIENT_DIALECTS) {
      const sentAt = scheduler.now();
      const path = dialect.read(taskId);
      const answer = await sendOrder(world, `${order} removed`, { method: 'GET', path, key: caller.token });
      if (answer?.status === 200) rules.found(taskId, sentAt, answer.process);
    }
  }
}
