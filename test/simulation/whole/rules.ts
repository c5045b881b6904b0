import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isFinal } from './dialects.ts';
import type { SeenTask } from './dialects.ts';
import type { Delivery } from './receivers.ts';
import { NANOS_PER_SECOND, PRIVATE_NAMES, REMIX_NANOS_PER_SECOND } from './simulated-config.ts';
import type { HttpAnswer, HttpOrder } from './simulated-http.ts';
import type { UpstreamWorks, Work, WorkState } from './upstream-works.ts';

/** Without faults, a finished task is settled within this time. The sweep alone would take longer. */
const SETTLED_MS_MAX = 3000;

/** A rule that a run has broken. */
export interface BrokenRule {
  readonly rule: string;
  readonly detail: string;
}

/** A create as its client knows it. */
export interface PromisedOrder {
  /** The name of the order, however often it is sent. */
  readonly order: string;
  readonly account: string;
  /** Empty: none. */
  readonly key: string;
}

/** What the clients saw. */
interface Observer {
  /** A create was answered with a task. */
  promised(order: PromisedOrder, task: SeenTask): void;
  promisedJob(key: string, jobId: string): void;
  /** A task or a job was read. Different dialects have different words for the same end. */
  read(dialect: string, task: SeenTask): void;
  /** A read says that there is no such task. */
  missing(taskId: string): void;
  /** A client is about to remove a task. */
  removed(taskId: string): void;
  /** An operator was told that the token is revoked. */
  revoked(token: string): void;
  /** `sentAt`: the time at which the client sent the request. */
  answered(order: HttpOrder, answer: HttpAnswer, sentAt: number): void;
  /** A client is about to send an order with a bound below its price. */
  tooDear(order: string): void;
  /** An upstream has taken a relayed call in. */
  called(name: string): void;
  /** A receiver of webhooks has taken a delivery in. */
  delivered(delivery: Delivery): void;
  /** An event has come on a stream. `body` is what a webhook would have. */
  heard(body: string): void;
}

export interface Rules extends Observer {
  /** A stream has its first place: every event after it will be heard. */
  listens(): void;
  /** The place of the last event that a stream can have. */
  readLastPlace(): string;
  /** Every event of an account was heard, from the first place of the stream up to the given one. */
  checkHeard(accountId: string, upTo: string): void;
  readonly broken: () => BrokenRule | undefined;
  /** The upstream has accepted an order. */
  accepted(work: Work, works: readonly Work[]): void;
  /** The rules that hold at every moment. */
  checkMoment(): void;
  /** A task that began before a time is at rest. For a world that has been healthy since then. */
  checkRest(since: number): void;
  /** Reports whether every task has ended and is settled, or waits for a person. */
  isAtRest(isCalm: boolean): boolean;
  /** The rules that hold at the end of a run. */
  checkEnd(works: UpstreamWorks, isCalm: boolean): void;
  break(rule: string, detail: string): void;
  /** The number of tasks, and of those that wait for a person. */
  count(): { readonly tasks: number; readonly waiting: number };
  close(): void;
}

type Row = Readonly<Record<string, string | number | bigint | null>>;
type Read = (service: 'tasks' | 'billing', text: string, ...values: readonly string[]) => readonly Row[];

const WAITS = 'EXISTS (SELECT 1 FROM attention a WHERE a.task_id = t.id AND a.resolved_at IS NULL)';
/** A person is asked about nothing else once a task has ended. */
const WAITING_AFTER_END = `SELECT a.task_id, a.reason FROM attention a JOIN tasks t ON t.id = a.task_id
  WHERE a.resolved_at IS NULL AND t.finished_at IS NOT NULL AND a.reason <> 'overrun'`;
const REST = 'every task ends and is settled, or waits for a person';
const RESTLESS = `SELECT t.id, t.state, t.admission, t.settled_at FROM tasks t
  WHERE (t.finished_at IS NULL OR t.settled_at IS NULL) AND NOT ${WAITS}`;
const RESTLESS_SINCE = `${RESTLESS} AND t.admission <> 'waiting'
  AND COALESCE(t.began_at, t.created_at) < CAST(? AS INTEGER)`;
const UNBALANCED = 'SELECT event_key FROM ledger_lines GROUP BY event_key HAVING SUM(amount_nanos) <> 0';
const HELD = `SELECT a.id, a.held_nanos FROM accounts a WHERE a.held_nanos <>
  (SELECT COALESCE(SUM(h.amount_nanos), 0) FROM holds h WHERE h.account_id = a.id AND h.state = 'open') +
  (SELECT COALESCE(SUM(c.amount_nanos), 0) FROM calls c WHERE c.account_id = a.id AND c.ended_at IS NULL)`;
/** Holds come out of what is there. Only a charge above its hold may take more. */
const OVERDRAWN = `SELECT id, balance_nanos, held_nanos FROM accounts
  WHERE held_nanos > 0 AND balance_nanos - held_nanos < 0`;
const ENDED_TWICE = `SELECT task_id FROM financial_events WHERE kind IN ('settle', 'release')
  GROUP BY task_id HAVING COUNT(*) > 1`;
const HAS_ATTEMPTS = "SELECT name FROM sqlite_schema WHERE name = 'attempts'";
const ATTEMPTS = `SELECT a.task_id FROM attempts a JOIN tasks t ON t.id = a.task_id
  WHERE instr(t.order_json, ?) > 0`;
/** Deliveries that nothing will send, or that have ended without one. */
const LOST_EVENTS = `SELECT t.id, t.webhook_url FROM tasks t
  WHERE t.webhook_url IS NOT NULL AND t.finished_at IS NOT NULL AND t.admission <> 'refused'
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.subject_id = t.id AND d.url = t.webhook_url)`;
const STUCK_DELIVERIES = "SELECT id, subject_id FROM webhook_deliveries WHERE state = 'pending' AND due_at IS NULL";

/** Judges a run by the rules of the product's contract, by what clients and upstreams saw, and by the stores. */
export function openRules(folder: () => string, now: () => number): Rules {
  let broken: BrokenRule | undefined;
  const stores = openReaders(folder);
  const { read } = stores;
  const breakRule = (rule: string, detail: string): void => {
    broken ??= { rule, detail };
  };
  const none = (rule: string, rows: readonly Row[]): void => {
    if (rows.length > 0) breakRule(rule, rows.slice(0, 3).map(showRow).join('; '));
  };
  const observer = openObserver(breakRule, now);
  let heardFrom: string | undefined;
  const readLastPlace = (): string => String(read('tasks', LAST_PLACE)[0]?.['seq'] ?? 0);
  return {
    ...observer,
    listens: () => {
      heardFrom = readLastPlace();
    },
    readLastPlace,
    checkHeard: (accountId, upTo) => {
      if (heardFrom === undefined) return;
      const rows = read('tasks', EVENTS_BETWEEN, accountId, heardFrom, upTo);
      none(
        'a stream misses no event',
        rows.filter(({ type, subject_id: id }) => !observer.wasHeard(`${String(type)} ${String(id)}`)),
      );
    },
    broken: () => broken,
    break: breakRule,
    accepted: ({ order, account }, works) => {
      const all = works.filter((work) => work.order === order);
      if (all.length > 1)
        breakRule('an order is accepted at most once', `${order}: ${all.map(({ id }) => id).join(', ')}`);
      if (observer.isTooDear(order)) breakRule('an order above its bound is not submitted', order);
      // the process that sent it may be dead by now, and its successor may not have begun
      const source = order.replace(/-remix$/, '');
      if (source !== order) return;
      if (read('tasks', HAS_ATTEMPTS).length === 0 || read('tasks', ATTEMPTS, `[${order}]`).length === 0)
        breakRule('a submission has a stored attempt', `${order} at ${account}`);
    },
    checkMoment: () => {
      none('the lines of an event sum to zero', read('billing', UNBALANCED));
      none('the held amount is that of the open holds', read('billing', HELD));
      none('a hold ends once', read('billing', ENDED_TWICE));
      none('no account is overdrawn', read('billing', OVERDRAWN));
    },
    checkRest: (since) => {
      none(REST, read('tasks', RESTLESS_SINCE, String(since)));
    },
    isAtRest: (isCalm) =>
      read('tasks', `${RESTLESS} LIMIT 1`).length === 0 &&
      read('tasks', OUTBOX).length === 0 &&
      read('tasks', RUNNING_JOBS).length === 0 &&
      // a hold whose settlement died with its process lapses after an hour
      (!isCalm || read('billing', OPEN_CALLS).length === 0),
    checkEnd: (works, isCalm) => {
      none(REST, read('tasks', RESTLESS));
      none('the outbox is empty', read('tasks', OUTBOX));
      none('a task that waits has a reason', read('tasks', "SELECT task_id FROM attention WHERE reason = ''"));
      none('a task that has ended waits only over its usage', read('tasks', WAITING_AFTER_END));
      none('the end of a task with a webhook has a delivery', read('tasks', LOST_EVENTS));
      none('a pending delivery has a time', read('tasks', STUCK_DELIVERIES));
      observer.checkDelivered(read, none);
      checkMoney(read, none);
      checkJobs(read, none, now());
      none('a task ends once', read('tasks', FINISHED_TWICE));
      none('a finished task is in no counter', read('tasks', COUNTED_AFTER_END));
      none('a task that ended has no place in the queue', read('tasks', PLACES_AFTER_END));
      none('the queue counts its places', read('tasks', MISCOUNTED_PLACES));
      checkCounters(read, breakRule);
      checkWorks(read, works, breakRule);
      if (isCalm) checkCalm(read, none);
    },
    count: () => ({
      tasks: read('tasks', "SELECT id FROM tasks WHERE admission <> 'refused'").length,
      waiting: read('tasks', 'SELECT task_id FROM attention WHERE resolved_at IS NULL').length,
    }),
    close: stores.close,
  };
}

const RUNNING_JOBS = "SELECT id FROM jobs WHERE state NOT IN ('completed', 'failed') LIMIT 1";
const OPEN_CALLS = 'SELECT id FROM calls WHERE ended_at IS NULL LIMIT 1';
const LAST_PLACE = 'SELECT MAX(seq) AS seq FROM events';
const EVENTS_BETWEEN = `SELECT id, type, subject_id FROM events
  WHERE account_id = ? AND seq > CAST(? AS INTEGER) AND seq <= CAST(? AS INTEGER)`;
const OUTBOX = 'SELECT id FROM outbox LIMIT 1';
const FINISHED_TWICE = `SELECT task_id, COUNT(*) AS ends FROM task_events WHERE type IN ('completed', 'failed')
  GROUP BY task_id HAVING COUNT(*) > 1`;
const COUNTED_AFTER_END = `SELECT id, in_flight_json FROM tasks
  WHERE finished_at IS NOT NULL AND COALESCE(in_flight_json, '[]') <> '[]'`;
const PLACES_AFTER_END = `SELECT task_id FROM waiting JOIN tasks ON tasks.id = task_id WHERE finished_at IS NOT NULL`;
const MISCOUNTED_PLACES = `SELECT lane, account_id, waiting FROM queue_accounts WHERE waiting <> (SELECT COUNT(*)
  FROM waiting AS place WHERE place.lane = queue_accounts.lane AND place.account_id = queue_accounts.account_id
    AND claimed = 0)`;
/** What the work of a failed task can have come to. */
const UNPAID: ReadonlySet<WorkState> = new Set(['failed', 'cancelled', 'lost']);

/** Reads the stores beside the product, on connections of its own. */
function openReaders(folder: () => string): { readonly read: Read; readonly close: () => void } {
  let opened = '';
  const readers = new Map<string, DatabaseSync>();
  const close = (): void => {
    for (const reader of readers.values()) reader.close();
    readers.clear();
  };
  const read: Read = (service, text, ...values) => {
    if (opened !== folder()) {
      close();
      opened = folder();
    }
    const file = path.join(opened, `${service}.sqlite`);
    const reader = readers.get(service) ?? new DatabaseSync(file, { readOnly: true });
    readers.set(service, reader);
    return reader.prepare(text).all(...values) as unknown as readonly Row[];
  };
  return { read, close };
}

interface OpenObserver extends Observer {
  wasHeard(subject: string): boolean;
  isTooDear(order: string): boolean;
  /** A delivery that the store calls delivered has arrived. */
  checkDelivered(read: Read, none: (rule: string, rows: readonly Row[]) => void): void;
}

/** What clients were told stays true. */
function openObserver(breakRule: Rules['break'], now: () => number): OpenObserver {
  const taskOfKey = new Map<string, string>();
  const promised = new Map<string, string>();
  const ended = new Map<string, string>();
  const removed = new Set<string>();
  const tooDear = new Set<string>();
  const revoked = new Map<string, number>();
  const called = new Set<string>();
  const events = openSeenEvents(breakRule);
  const heard = new Set<string>();
  const read: Observer['read'] = (dialect, task) => {
    if (!isFinal(task)) return;
    // every dialect says the same state, and each its own error
    for (const [of, end] of [
      [task.id, task.status],
      [`${dialect} ${task.id}`, `${task.status} ${task.error}`],
    ] as const) {
      const before = ended.get(of);
      if (before !== undefined && before !== end)
        breakRule('a final state never changes', `${of}: ${before}, then ${end}`);
      ended.set(of, end);
    }
  };
  const promiseKey = (account: string, key: string, id: string): void => {
    const known = taskOfKey.get(`${account} ${key}`);
    if (known !== undefined && known !== id) breakRule('a key makes one task', `${key}: ${known} and ${id}`);
    taskOfKey.set(`${account} ${key}`, id);
  };
  return {
    read,
    promised: ({ order, account, key }, task) => {
      if (key !== '') promiseKey(account, key, task.id);
      promised.set(task.id, order);
    },
    tooDear: (order) => {
      tooDear.add(order);
    },
    isTooDear: (order) => tooDear.has(order),
    promisedJob: (key, jobId) => {
      promiseKey('', key, jobId);
    },
    missing: (taskId) => {
      if (!removed.has(taskId))
        breakRule('no task is lost', `${taskId} of ${promised.get(taskId) ?? 'no order'} is not found`);
    },
    removed: (taskId) => {
      removed.add(taskId);
    },
    revoked: (token) => {
      revoked.set(token, now());
    },
    answered: ({ method, path, key }, answer, sentAt) => {
      hidePrivate(`${method} ${path}`, `${answer.text} ${JSON.stringify(answer.headers)}`, breakRule);
      const since = sentAt - (revoked.get(key) ?? Infinity);
      if (answer.status < 300 && since > REVOKED_MS_MAX)
        breakRule('a revoked token is refused', `${method} ${path} is sent ${since} ms after its revocation`);
    },
    called: (name) => {
      if (called.has(name)) breakRule('a call that must not be repeated is made once', name);
      called.add(name);
    },
    delivered: (delivery) => {
      hidePrivate(`a webhook to ${delivery.url}`, delivery.body, breakRule);
      events.delivered(delivery);
    },
    heard: (body) => {
      hidePrivate('an event stream', body, breakRule);
      heard.add(readSubject(body));
    },
    wasHeard: (subject) => heard.has(subject),
    checkDelivered: events.checkDelivered,
  };
}

/** A known token is asked about again after ten seconds. A request that was sent before that may still be answered. */
const REVOKED_MS_MAX = 20_000;

function hidePrivate(where: string, text: string, breakRule: Rules['break']): void {
  const found = PRIVATE_NAMES.find((name) => text.includes(name));
  if (found !== undefined) breakRule('nothing of an upstream is in an answer', `${where}: ${found} in ${text}`);
}

/** The type of an event, and what it is about. */
function readSubject(body: string): string {
  const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: { readonly id: string } };
  return `${type} ${data.id}`;
}

/** An event has one id for a subject, and one subject. */
function openSeenEvents(breakRule: Rules['break']): Pick<OpenObserver, 'delivered' | 'checkDelivered'> {
  const idOfSubject = new Map<string, string>();
  const bodies = new Map<string, string>();
  const answered = new Set<string>();
  return {
    delivered: ({ url, id, body, isAnswered }) => {
      const subject = readSubject(body);
      const known = idOfSubject.get(subject);
      if (known !== undefined && known !== id)
        breakRule('an event has one id', `${subject} comes as ${known} and as ${id}`);
      idOfSubject.set(subject, id);
      const before = bodies.get(id);
      if (before !== undefined && before !== subject)
        breakRule('an event has one subject', `${id} is ${before}, then ${subject}`);
      bodies.set(id, subject);
      if (isAnswered) answered.add(`${id} ${url}`);
    },
    checkDelivered: (read, none) => {
      none(
        'a delivered event has arrived',
        read(
          'tasks',
          `SELECT d.event_id, COALESCE(d.url, e.url) AS url FROM webhook_deliveries d
            LEFT JOIN webhook_endpoints e ON e.id = d.endpoint_id WHERE d.state = 'delivered'`,
        ).filter(({ event_id: id, url }) => url !== null && !answered.has(`${String(id)} ${String(url)}`)),
      );
    },
  };
}

/** A lapsed hold is released within this time. */
const LAPSE_MS_MAX = 120_000;

/** Each job has ended, and each call is closed and charged at most its hold. */
function checkJobs(read: Read, none: (rule: string, rows: readonly Row[]) => void, now: number): void {
  none('every queued call ends', read('tasks', RUNNING_JOBS));
  none(
    'the hold of a call ends, or lapses in time',
    read('billing', 'SELECT id, placed_at, lapses_at FROM calls WHERE ended_at IS NULL').filter(
      ({ lapses_at: at }) => Number(at) < now - LAPSE_MS_MAX,
    ),
  );
  none(
    'a call is charged at most its hold',
    read('billing', 'SELECT id, amount_nanos, charged_nanos FROM calls WHERE charged_nanos > amount_nanos'),
  );
}

/** Charged is seconds times price for a completed task, nothing for a failed one; no other hold is open. */
function checkMoney(read: Read, none: (rule: string, rows: readonly Row[]) => void): void {
  const holds = new Map(read('billing', 'SELECT * FROM holds').map((hold) => [String(hold['task_id']), hold]));
  const tasks = read('tasks', `SELECT t.id, t.state, t.seconds, t.settled_at, ${WAITS} AS waits FROM tasks t`);
  const known = new Set(tasks.map(({ id }) => String(id)));
  none(
    'a hold has its task',
    [...holds.values()].filter(({ task_id: id }) => !known.has(String(id))),
  );
  none(
    'no hold stays open after the end of its task',
    tasks.filter(({ id, settled_at: at }) => at !== null && holds.get(String(id))?.['state'] === 'open'),
  );
  none(
    'a completed task is charged its seconds times the price',
    tasks.filter(({ id, state, seconds, settled_at: at }) => {
      if (state !== 'completed' || at === null) return false;
      const hold = holds.get(String(id));
      const isRemix = String(hold?.['price_key']).endsWith(REMIX_PRICE);
      const price = isRemix ? REMIX_NANOS_PER_SECOND : (NANOS_PER_SECOND[String(hold?.['resolution'])] ?? 0n);
      return BigInt(hold?.['charged_nanos'] ?? -1) !== BigInt(Number(seconds)) * price;
    }),
  );
  none(
    'a failed task is charged nothing',
    tasks.filter(({ id, state }) => state === 'failed' && Number(holds.get(String(id))?.['charged_nanos'] ?? 0) !== 0),
  );
}

const REMIX_PRICE = '__regeneration';

/** The counters in flight, with their shards, are those of the tasks that say that they are counted. */
function checkCounters(read: Read, breakRule: Rules['break']): void {
  const counted = new Map<string, number>();
  const add = (scope: string, count: number): void => {
    counted.set(scope, (counted.get(scope) ?? 0) + count);
  };
  for (const { scope, count, permits, shard_of: whole } of read('tasks', 'SELECT * FROM in_flight'))
    add(String(whole ?? scope), Number(count) - Number(permits));
  for (const { in_flight_json: scopes } of read('tasks', 'SELECT in_flight_json FROM tasks'))
    for (const scope of JSON.parse(String(scopes)) as readonly string[]) add(scope, -1);
  const wrong = [...counted].filter(([, count]) => count !== 0);
  if (wrong.length > 0)
    breakRule(
      'a counter counts the tasks in it',
      wrong.map(([scope, count]) => `${scope}: ${count} too many`).join('; '),
    );
}

/** Every accepted work belongs to one task, unless its upstream has lost it, or the task of its order waits for a person. */
function checkWorks(read: Read, works: UpstreamWorks, breakRule: Rules['break']): void {
  const owners = read(
    'tasks',
    `SELECT t.id, t.upstream_account, t.upstream_id, t.order_json, t.state, t.deleted_at, ${WAITS} AS waits FROM tasks t`,
  );
  for (const work of works.all()) {
    const own = owners.filter(({ upstream_account: account, upstream_id: id }) => {
      return account === work.account && id === work.id;
    });
    const isRemix = work.source !== undefined;
    const isAwaited =
      isRemix ||
      owners.some(({ order_json: order, waits }) => waits === 1 && String(order).includes(`[${work.order}]`));
    if (own.length !== 1 && !isAwaited && works.readState(work) !== 'lost')
      breakRule('every accepted work belongs to one task', `${work.id} of ${work.order} has ${own.length}`);
    const [owner] = own;
    // a deleted task has no prompt any more
    const isTold = !isRemix && owner !== undefined && owner['deleted_at'] === null;
    if (isTold && !String(owner['order_json']).includes(`[${work.order}]`))
      breakRule('a task has the work of its own order', `${String(owner['id'])} has ${work.id} of ${work.order}`);
    if (owner?.['state'] === 'completed' && works.readState(work) !== 'succeeded')
      breakRule('a completed task has work that succeeded', `${String(owner['id'])} has ${work.id}`);
    if (owner?.['state'] === 'failed' && !UNPAID.has(works.readState(work)))
      breakRule('a failed task has no work that succeeds', `${String(owner['id'])} has ${work.id}`);
  }
}

/** Without faults, no person is needed, and the end of a task is settled by its event. */
function checkCalm(read: Read, none: (rule: string, rows: readonly Row[]) => void): void {
  const ended = new Map(
    read('billing', "SELECT task_id, ended_at FROM holds WHERE state <> 'open'").map((hold) => [
      String(hold['task_id']),
      Number(hold['ended_at']),
    ]),
  );
  none('without faults no task waits for a person', read('tasks', 'SELECT task_id, reason FROM attention'));
  none(
    `without faults a task is settled within ${SETTLED_MS_MAX} ms of its end`,
    read('tasks', "SELECT id, finished_at FROM tasks WHERE finished_at IS NOT NULL AND admission <> 'refused'").filter(
      ({ id, finished_at: at }) => (ended.get(String(id)) ?? Infinity) - Number(at) > SETTLED_MS_MAX,
    ),
  );
}

function showRow(row: Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} ${String(value).slice(0, 80)}`)
    .join(', ');
}
