import { ENDED } from './batches.ts';
import { CLIENT_DIALECTS, isFinal, readSeenTask } from './dialects.ts';
import { RATIOS, REMIXED_MODEL, REVOKED, RICH } from './simulated-config.ts';
import type { HttpAnswer, HttpOrder } from './simulated-http.ts';
import { readListedIds, readMembers, sendOrder } from './world.ts';
import type { World } from './world.ts';

/** The name under which a run can do without it. */
export const RETENTION = 'retention';
const AGED = 0.5;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long each kind of record stays, as the pages of the settings and the contract of the API say. */
const LIFETIMES_MS = {
  key: DAY_MS,
  result: 7 * DAY_MS,
  file: 30 * DAY_MS,
  batch: 30 * DAY_MS,
  delivery: 30 * DAY_MS,
  task: 90 * DAY_MS,
} as const;
type Kind = keyof typeof LIFETIMES_MS;
/** They stay while the task waits for a person. */
const OF_TASKS: ReadonlySet<Kind> = new Set(['task', 'result']);
/** The lifetimes whose ends are looked at. After that of a task, everything else is gone too. */
const AGES = ['key', 'key', 'result', 'batch', 'task', 'task', 'task'] as const;
/** The program is looked at this long before and after the end of a lifetime. */
const VISIT_MS = 4 * HOUR_MS;
/** A record is at most this much older than the end of the run: its work, and a clock that was wrong. */
const SLACK_MS = 2 * HOUR_MS;
/** A program that has started removes what is old within this time. */
const REMOVED_MS_MAX = 60_000;
const STARTS_MAX = 600;
const SECOND_MS = 1000;
/** The tasks that a run asks for again. More of them show nothing else. */
const TASKS_MAX = 16;
const LISTED_MAX = 20;
const TRIES_MAX = 20;
/** The orders that have the same key. */
const FIRST_ORDER = 'order-950';
const LATER_ORDER = 'order-951';
const READS_MAX = 60;

/** A record that its client could read when the run had ended. */
interface KeptRecord {
  readonly kind: Exclude<Kind, 'key'>;
  readonly name: string;
  readonly path: string;
  readonly key: string;
  /** What the client goes by. Empty if it only wants to find the record. */
  readonly content: string;
}

/**
 * In some seeds the program is switched off after its run, until shortly before the end of a lifetime, and again until
 * after it. What is within its time is still there, and what is beyond it is gone. `isDecided`: no task waits for a person, because that would keep it and others.
 */
export async function passTime(world: World, isDecided: boolean): Promise<void> {
  const { draws, faults, scheduler } = world;
  if (faults.isLeftOut(RETENTION) || !draws.happens(RETENTION, AGED)) return;
  const kind = draws.pick('retention of', AGES);
  const keyed = kind === 'key' ? await orderWithKey(world) : undefined;
  const records = await listRecords(world);
  const endedAt = scheduler.now();
  for (const shiftMs of [-VISIT_MS, VISIT_MS]) {
    if (!(await restUntil(world, endedAt + LIFETIMES_MS[kind] + shiftMs))) return;
    const ageMs = scheduler.now() - endedAt;
    const mayStay = !isDecided && ageMs + SLACK_MS >= LIFETIMES_MS.task;
    for (const record of records) if (!mayStay || !OF_TASKS.has(record.kind)) await checkRecord(world, record, ageMs);
    if (keyed !== undefined) await checkKey(world, keyed, shiftMs < 0);
  }
}

/** Switches the program off until a time. Returns whether it is up again. */
async function restUntil({ machine, scheduler, rules }: World, until: number): Promise<boolean> {
  machine.switchOff(until - scheduler.now());
  await scheduler.pause(until - scheduler.now());
  for (let start = 1; start <= STARTS_MAX && !machine.isUp(); start += 1) await scheduler.pause(SECOND_MS);
  if (!machine.isUp()) rules.break('the program starts after a long time', 'it is still down');
  await scheduler.pause(REMOVED_MS_MAX);
  return machine.isUp();
}

/** Everything that clients can read now, and what they read. */
async function listRecords(world: World): Promise<readonly KeptRecord[]> {
  const [key] = RICH.keys;
  const list = async (path: string): Promise<readonly string[]> =>
    readListedIds(await readAgain(world, path, key)).slice(0, LISTED_MAX);
  const found: KeptRecord[] = [];
  const add = async (record: Omit<KeptRecord, 'content'>): Promise<KeptRecord | undefined> => {
    const answer = await readAgain(world, record.path, record.key);
    if (answer?.status !== 200 || !hasEnded(record.kind, answer)) return undefined;
    const kept = { ...record, content: readContent(record.kind, answer) };
    found.push(kept);
    return kept;
  };
  for (const id of await list('/v1/files')) await add({ kind: 'file', name: id, path: `/v1/files/${id}`, key });
  for (const id of await list('/v1/batches')) await add({ kind: 'batch', name: id, path: `/v1/batches/${id}`, key });
  for (const endpoint of await list('/v1/webhook_endpoints'))
    for (const id of await list(`/v1/webhook_endpoints/${endpoint}/deliveries`))
      await add({ kind: 'delivery', name: id, path: `/v1/webhook_deliveries/${id}`, key });
  for (const { id, order } of world.rules.list().slice(0, TASKS_MAX)) {
    const token = world.orders.find(order)?.caller.token;
    if (token === undefined || token === REVOKED.keys[0] || world.rules.isRemoving(id)) continue;
    const of = { name: `${id} of ${order}`, key: token };
    const task = await add({ ...of, kind: 'task', path: CLIENT_DIALECTS[0]!.read(id) });
    if (task !== undefined) await add({ ...of, kind: 'result', path: `/v1/videos/${id}/content` });
  }
  return found;
}

/** The time of a task and of a batch begins with its end. */
function hasEnded(kind: Kind, answer: HttpAnswer): boolean {
  if (kind === 'batch') return ENDED.has(readMembers(answer)['status']);
  return kind !== 'task' || isFinal(readSeenTask(answer));
}

function isOld(kind: Kind, ageMs: number): boolean {
  return ageMs - SLACK_MS >= LIFETIMES_MS[kind];
}

/** A task keeps its end and its charge, and a result its bytes. */
function readContent(kind: Kind, answer: HttpAnswer): string {
  if (kind === 'result') return answer.text;
  if (kind === 'batch') return String(readMembers(answer)['status']);
  if (kind !== 'task') return '';
  const { status, error, charged } = readSeenTask(answer);
  return `${status} ${error} ${charged ?? ''}`;
}

async function checkRecord(world: World, record: KeptRecord, ageMs: number): Promise<void> {
  const { rules, acts } = world;
  const { kind, name, path, key, content } = record;
  const answer = await readAgain(world, path, key);
  if (answer === undefined) return;
  const lifetimeMs = LIFETIMES_MS[kind];
  if (ageMs + SLACK_MS < lifetimeMs) {
    if (answer.status !== 200 || readContent(kind, answer) !== content)
      rules.break('a record stays for its time', `${kind} ${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
    else acts.note('a record is within its time');
    return;
  }
  if (!isOld(kind, ageMs)) return;
  // the task of an expired result says so, until it is removed itself
  const gone = kind === 'result' && ageMs + SLACK_MS < LIFETIMES_MS.task ? 410 : 404;
  if (answer.status !== gone)
    rules.break('a record is gone after its time', `${kind} ${name}: ${answer.status} ${answer.text.slice(0, 200)}`);
  else acts.note(`a ${kind} is gone after its time`);
}

/** Orders a video with a key, after all the others, and waits for its end. */
async function orderWithKey(world: World): Promise<string | undefined> {
  const answer = await repeatRequest(world, FIRST_ORDER, describeOrder(FIRST_ORDER));
  if (answer === undefined || answer.status >= 300) return undefined;
  const { id } = readSeenTask(answer);
  for (let reads = 1; reads <= READS_MAX; reads += 1) {
    const read = await readAgain(world, CLIENT_DIALECTS[0]!.read(id), RICH.keys[0]);
    if (read?.status === 200 && isFinal(readSeenTask(read))) return id;
    await world.scheduler.pause(SECOND_MS);
  }
  return undefined;
}

/** All of them have one key. */
function describeOrder(order: string): HttpOrder {
  const { path, body } = CLIENT_DIALECTS[0]!.create({
    ...{ model: REMIXED_MODEL, resolution: '768P', seconds: 5, prompt: `an old fox [${order}]`, ratio: RATIOS[0] },
    ...{ picture: undefined, video: undefined, webhookUrl: undefined, maxAmount: undefined },
  });
  const headers = { 'idempotency-key': `key-of-${FIRST_ORDER}` };
  return { method: 'POST', path, key: RICH.keys[0], body, headers };
}

/** A key that is repeated within a day gets its task. Later it is free for another order. */
async function checkKey(world: World, taskId: string, isWithin: boolean): Promise<void> {
  const { acts, rules } = world;
  const order = isWithin ? FIRST_ORDER : LATER_ORDER;
  const answer = await repeatRequest(world, `${order} again`, describeOrder(order));
  if (answer === undefined) return;
  const found = `${taskId} of ${order}: ${answer.status} ${answer.text}`;
  const isSame = answer.status < 300 && readSeenTask(answer).id === taskId;
  const isNew = answer.status < 300 && !isSame;
  if (isWithin && isSame) acts.note('a key is kept for its time');
  else if (isWithin) rules.break('a key makes one task', found);
  else if (isNew) acts.note('a key is free after its time');
  else rules.break('a key is free after its time', found);
}

function readAgain(world: World, path: string, key: string): Promise<HttpAnswer | undefined> {
  return repeatRequest(world, `${RETENTION} ${path}`, { method: 'GET', path, key });
}

/** Repeats a request while it is refused by a limit, or the program starts. */
async function repeatRequest(world: World, name: string, request: HttpOrder): Promise<HttpAnswer | undefined> {
  let answer: HttpAnswer | undefined;
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    answer = await sendOrder(world, name, request);
    if (answer !== undefined && answer.status !== 429 && answer.status < 500) return answer;
    await world.scheduler.pause(SECOND_MS * 2);
  }
  return answer;
}
