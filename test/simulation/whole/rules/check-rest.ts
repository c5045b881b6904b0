import type { ExpectNone, BreakRule, ReadStore } from './read-stores.ts';
import { RUNNING_JOBS } from './check-calls.ts';

/** Without faults, a finished task is settled within this time. The sweep alone would take longer. */
const SETTLED_MS_MAX = 3000;
export const WAITS = 'EXISTS (SELECT 1 FROM attention a WHERE a.task_id = t.id AND a.resolved_at IS NULL)';
/** A person is asked about nothing else once a task has ended. */
const WAITING_AFTER_END = `SELECT a.task_id, a.reason FROM attention a JOIN tasks t ON t.id = a.task_id
  WHERE a.resolved_at IS NULL AND t.finished_at IS NOT NULL AND a.reason <> 'overrun'`;
const REST = 'every task ends and is settled, or waits for a person';
const RESTLESS = `SELECT t.id, t.state, t.admission, t.settled_at FROM tasks t
  WHERE (t.finished_at IS NULL OR t.settled_at IS NULL) AND NOT ${WAITS}`;
const RESTLESS_SINCE = `${RESTLESS} AND t.admission <> 'waiting'
  AND COALESCE(t.began_at, t.created_at) < CAST(? AS INTEGER)`;
const ENDED = "SELECT t.id, t.finished_at FROM tasks t WHERE t.finished_at IS NOT NULL AND t.admission <> 'refused'";
const OPEN_CALLS = 'SELECT id FROM calls WHERE ended_at IS NULL LIMIT 1';
const DUE_DELIVERIES =
  "SELECT id FROM webhook_deliveries WHERE state = 'pending' AND due_at < CAST(? AS INTEGER) LIMIT 1";
/** Batches whose lines have all ended, but which have not. */
const UNENDED_BATCHES = `SELECT id, phase FROM batches b WHERE phase <> 'ended'
  AND NOT EXISTS (SELECT 1 FROM batch_lines l WHERE l.batch_id = b.id AND l.state IN ('pending', 'starting', 'running'))`;
const OUTBOX = 'SELECT id FROM outbox LIMIT 1';
const FINISHED_TWICE = `SELECT task_id, COUNT(*) AS ends FROM task_events WHERE type IN ('completed', 'failed')
  GROUP BY task_id HAVING COUNT(*) > 1`;
const COUNTED_AFTER_END = `SELECT id, in_flight_json FROM tasks
  WHERE finished_at IS NOT NULL AND COALESCE(in_flight_json, '[]') <> '[]'`;
const PLACES_AFTER_END = `SELECT task_id FROM waiting JOIN tasks ON tasks.id = task_id WHERE finished_at IS NOT NULL`;
const MISCOUNTED_PLACES = `SELECT lane, account_id, waiting FROM queue_accounts WHERE waiting <> (SELECT COUNT(*)
  FROM waiting AS place WHERE place.lane = queue_accounts.lane AND place.account_id = queue_accounts.account_id
    AND claimed = 0)`;

/** Reports whether every task and job has ended and is settled, or waits for a person, and no delivery is due. */
export function isAtRest(
  read: ReadStore,
  { now, isCalm }: { readonly now: number; readonly isCalm: boolean },
): boolean {
  return (
    read('tasks', `${RESTLESS} LIMIT 1`).length === 0 &&
    read('tasks', OUTBOX).length === 0 &&
    read('tasks', RUNNING_JOBS).length === 0 &&
    read('tasks', UNENDED_BATCHES).length === 0 &&
    read('tasks', DUE_DELIVERIES, String(now)).length === 0 &&
    // a hold whose settlement died with its process lapses after an hour
    (!isCalm || read('billing', OPEN_CALLS).length === 0)
  );
}

/** A task that began before a time is at rest. For a world that has been healthy since then. */
export function checkRestSince(read: ReadStore, expectNone: ExpectNone, since: number): void {
  expectNone(REST, read('tasks', RESTLESS_SINCE, String(since)));
}

/** At the end of a run each task is at rest, in no queue, and in no counter. */
export function checkRest(read: ReadStore, expectNone: ExpectNone, breakRule: BreakRule): void {
  expectNone(REST, read('tasks', RESTLESS));
  expectNone('a batch ends with its lines', read('tasks', UNENDED_BATCHES));
  expectNone('the outbox is empty', read('tasks', OUTBOX));
  expectNone('a task that waits has a reason', read('tasks', "SELECT task_id FROM attention WHERE reason = ''"));
  expectNone('a task that has ended waits only over its usage', read('tasks', WAITING_AFTER_END));
  expectNone('a task ends once', read('tasks', FINISHED_TWICE));
  expectNone('a finished task is in no counter', read('tasks', COUNTED_AFTER_END));
  expectNone('a task that ended has no place in the queue', read('tasks', PLACES_AFTER_END));
  expectNone('the queue counts its places', read('tasks', MISCOUNTED_PLACES));
  checkCounters(read, breakRule);
}

/** The counters in flight, with their shards, are those of the tasks that say that they are counted. */
function checkCounters(read: ReadStore, breakRule: BreakRule): void {
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

/** Without faults, no person is needed, and the end of a task is settled by its event. */
export function checkCalm(read: ReadStore, expectNone: ExpectNone): void {
  const ended = new Map(
    read('billing', "SELECT task_id, ended_at FROM holds WHERE state <> 'open'").map((hold) => [
      String(hold['task_id']),
      Number(hold['ended_at']),
    ]),
  );
  expectNone(
    'without faults no task waits for a person',
    read('tasks', "SELECT task_id, reason FROM attention WHERE reason <> 'overrun'"),
  );
  expectNone(
    `without faults a task is settled within ${SETTLED_MS_MAX} ms of its end`,
    read('tasks', `${ENDED} AND NOT ${WAITS}`).filter(
      ({ id, finished_at: at }) => (ended.get(String(id)) ?? Infinity) - Number(at) > SETTLED_MS_MAX,
    ),
  );
}
