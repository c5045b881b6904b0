import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { Observer } from './clients.ts';
import { NANOS_PER_SECOND } from './simulated-config.ts';
import type { UpstreamWorks, Work } from './upstream-works.ts';

/** Without faults, a finished task is settled within this time. The sweep alone would take longer. */
const SETTLED_MS_MAX = 3000;

/** A rule that a run has broken. */
export interface BrokenRule {
  readonly rule: string;
  readonly detail: string;
}

export interface Rules extends Observer {
  readonly broken: () => BrokenRule | undefined;
  /** The upstream has accepted an order. */
  accepted(work: Work, works: readonly Work[]): void;
  /** The rules that hold at every moment. */
  checkMoment(): void;
  /** Reports whether every task has ended and is settled, or waits for a person. */
  isAtRest(): boolean;
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
const RESTLESS = `SELECT t.id, t.state, t.admission, t.settled_at FROM tasks t
  WHERE (t.finished_at IS NULL OR t.settled_at IS NULL) AND NOT ${WAITS}`;
const UNBALANCED = 'SELECT event_key FROM ledger_lines GROUP BY event_key HAVING SUM(amount_nanos) <> 0';
const HELD = `SELECT a.id, a.held_nanos FROM accounts a WHERE a.held_nanos <>
  (SELECT COALESCE(SUM(h.amount_nanos), 0) FROM holds h WHERE h.account_id = a.id AND h.state = 'open')`;
const ENDED_TWICE = `SELECT task_id FROM financial_events WHERE kind IN ('settle', 'release')
  GROUP BY task_id HAVING COUNT(*) > 1`;
const HAS_ATTEMPTS = "SELECT name FROM sqlite_schema WHERE name = 'attempts'";
const ATTEMPTS = `SELECT a.task_id FROM attempts a JOIN tasks t ON t.id = a.task_id
  WHERE instr(t.order_json, ?) > 0`;

/** Judges a run by the rules of the product's contract, by what clients and upstreams saw, and by the stores. */
export function openRules(folder: () => string): Rules {
  let broken: BrokenRule | undefined;
  const stores = openReaders(folder);
  const { read } = stores;
  const breakRule = (rule: string, detail: string): void => {
    broken ??= { rule, detail };
  };
  const none = (rule: string, rows: readonly Row[]): void => {
    if (rows.length > 0) breakRule(rule, rows.slice(0, 3).map(showRow).join('; '));
  };
  return {
    ...openObserver(breakRule),
    broken: () => broken,
    break: breakRule,
    accepted: ({ order, account }, works) => {
      const all = works.filter((work) => work.order === order);
      if (all.length > 1)
        breakRule('an order is accepted at most once', `${order}: ${all.map(({ id }) => id).join(', ')}`);
      // the process that sent it may be dead by now, and its successor may not have begun
      if (read('tasks', HAS_ATTEMPTS).length === 0 || read('tasks', ATTEMPTS, `[${order}]`).length === 0)
        breakRule('a submission has a stored attempt', `${order} at ${account}`);
    },
    checkMoment: () => {
      none('the lines of an event sum to zero', read('billing', UNBALANCED));
      none('the held amount is that of the open holds', read('billing', HELD));
      none('a hold ends once', read('billing', ENDED_TWICE));
    },
    isAtRest: () => read('tasks', `${RESTLESS} LIMIT 1`).length === 0 && read('tasks', OUTBOX).length === 0,
    checkEnd: (works, isCalm) => {
      none('every task ends and is settled, or waits for a person', read('tasks', RESTLESS));
      none('the outbox is empty', read('tasks', OUTBOX));
      none('a task that waits has a reason', read('tasks', "SELECT task_id FROM attention WHERE reason = ''"));
      checkMoney(read, none);
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

const OUTBOX = 'SELECT id FROM outbox LIMIT 1';

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

/** What clients were told stays true. */
function openObserver(breakRule: Rules['break']): Observer {
  const taskOfKey = new Map<string, string>();
  const promised = new Map<string, string>();
  const ended = new Map<string, string>();
  const read = (taskId: string, task: Task): void => {
    const before = ended.get(taskId);
    const now = showEnd(task);
    if (before !== undefined && before !== now)
      breakRule('a final state never changes', `${taskId}: ${before}, then ${now}`);
    if (isFinal(task)) ended.set(taskId, now);
  };
  return {
    promised: (order, key, task) => {
      const known = key === '' ? undefined : taskOfKey.get(key);
      if (known !== undefined && known !== task.id)
        breakRule('a key makes one task', `${key}: ${known} and ${task.id}`);
      if (key !== '') taskOfKey.set(key, task.id);
      promised.set(task.id, order);
      // a replayed create answers with the task as it is now
      if (isFinal(task)) read(task.id, task);
    },
    read,
    missing: (taskId) => {
      breakRule('no task is lost', `${taskId} of ${promised.get(taskId) ?? 'no order'} is not found`);
    },
  };
}

function isFinal({ state }: Task): boolean {
  return state === TaskState.COMPLETED || state === TaskState.FAILED;
}

function showEnd({ state, failure, result }: Task): string {
  return `${TaskState[state]} ${failure?.code ?? ''} ${result?.object ?? ''}`;
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
      const price = NANOS_PER_SECOND[String(hold?.['resolution'])] ?? 0n;
      return BigInt(hold?.['charged_nanos'] ?? -1) !== BigInt(Number(seconds)) * price;
    }),
  );
  none(
    'a failed task is charged nothing',
    tasks.filter(({ id, state }) => state === 'failed' && Number(holds.get(String(id))?.['charged_nanos'] ?? 0) !== 0),
  );
}

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
    `SELECT t.id, t.upstream_account, t.upstream_id, t.order_json, t.state, ${WAITS} AS waits FROM tasks t`,
  );
  for (const work of works.all()) {
    const own = owners.filter(({ upstream_account: account, upstream_id: id }) => {
      return account === work.account && id === work.id;
    });
    const isAwaited = owners.some(
      ({ order_json: order, waits }) => waits === 1 && String(order).includes(`[${work.order}]`),
    );
    if (own.length !== 1 && !isAwaited && works.readState(work) !== 'lost')
      breakRule('every accepted work belongs to one task', `${work.id} of ${work.order} has ${own.length}`);
    const [owner] = own;
    if (owner !== undefined && !String(owner['order_json']).includes(`[${work.order}]`))
      breakRule('a task has the work of its own order', `${String(owner['id'])} has ${work.id} of ${work.order}`);
    if (owner?.['state'] === 'completed' && works.readState(work) !== 'succeeded')
      breakRule('a completed task has work that succeeded', `${String(owner['id'])} has ${work.id}`);
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
    read('tasks', 'SELECT id, finished_at FROM tasks WHERE finished_at IS NOT NULL').filter(
      ({ id, finished_at: at }) => (ended.get(String(id)) ?? Infinity) - Number(at) > SETTLED_MS_MAX,
    ),
  );
}

function showRow(row: Row): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} ${String(value).slice(0, 80)}`)
    .join(', ');
}
