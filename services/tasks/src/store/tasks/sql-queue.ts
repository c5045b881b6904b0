import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { TOTAL_SCOPE, channelAccountScope, channelScope, isChannelScope } from '../../domain/in-flight-scope.ts';
import { computeCharge } from '../../domain/fair-queue.ts';
import { SCHEDULED_LANE } from '../../domain/lane.ts';
import {
  inJson,
  inNumber,
  inOptionalNumber,
  inOptionalText,
  inText,
  recordColumns,
  removeFirst,
  text,
  toInsert,
} from '../columns.ts';
import type {
  Claim,
  ClaimedTask,
  Flow,
  OpenChannel,
  PlaceStore,
  QueuePlace,
  ReturnedAttempt,
  TurnStore,
} from '../queue-store.ts';
import { countPlaces, enterFlow, refund, updateAccount, updateToken } from './sql-flows.ts';
import type { WriteNote } from './sql-history.ts';
import type { Cap, CountedWork } from './counter-shards.ts';
import { COUNTED_COLUMNS, leaveCounters, toCountedRow } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import type { FinishIn } from './sql-moves.ts';
import type { ChooseWithPermits } from './sql-permits.ts';
import { TASK } from './task-rows.ts';

/*
 * Places are changed under a lock on the row of their account, so that its counts agree with its places. Rows are locked
 * in one order: account, token, place, task, counters; an account in the lane `scheduled` after it in other lanes. A claim
 * passes over accounts that another process has locked.
 */

/** Tokens at their limit, and tasks that do not wait any more, that one claim passes over. */
const PASSED_OVER_MAX = 32;
/** The lanes in which a change searches a place that others move on at the same moment. */
const PLACE_TRIES_MAX = 3;

const PLACE = recordColumns<QueuePlace>({
  taskId: inText('task_id'),
  lane: inText('lane'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  cost: inNumber('cost'),
  since: inNumber('since'),
  startBy: inNumber('start_by'),
  notBefore: inOptionalNumber('not_before'),
  nextLane: inOptionalText('next_lane'),
  caps: inJson('caps_json'),
  mediaJson: inText('media_json'),
  refusals: inNumber('refusals'),
});

/** Takes a change back if its task is not as expected. */
class Vanished extends Error {}

interface QueueWrites {
  readonly note: WriteNote;
  readonly finishIn: FinishIn;
  readonly chooseWithPermits: ChooseWithPermits;
}

export function sqlQueue(sql: Sql, writes: QueueWrites): PlaceStore & TurnStore {
  return { ...sqlPlaces(sql, writes), ...sqlTurns(sql, writes.chooseWithPermits) };
}

function sqlPlaces(sql: Sql, { note, finishIn }: QueueWrites): PlaceStore {
  return {
    enqueue: (place, owner) =>
      unlessVanished(async () =>
        sql.transaction(async (query) => {
          const { taskId, since: at } = place;
          await enterFlow(query, place);
          await query(...toInsert('waiting', PLACE.write(place), 'ON CONFLICT (task_id) DO NOTHING'));
          const [row] = await query<CountedRow>(
            `UPDATE tasks SET admission = 'waiting', owner = NULL, channel = NULL, deadline_passed = -1, updated_at = $1
             WHERE id = $2 AND admission = 'submitting' AND owner = $3 RETURNING ${TASK.list}, ${COUNTED_COLUMNS}`,
            [at, taskId, owner],
          );
          if (row === undefined) throw new Vanished();
          await note(query, taskId, at, { type: 'waits' });
          leaveCounters(query, taskId, row);
          return TASK.read(row);
        }),
      ),

    returnToQueue: async (taskId, attempt) =>
      (await unlessVanished(() =>
        sql.transaction(async (query) => {
          const place = await lockPlace(query, taskId, 1);
          if (place === undefined) return false;
          await refund(query, place);
          const { number, owner, channel, error, fault, at } = attempt;
          const returned = moveReturned(place, attempt);
          // its end gave its token room
          if (returned === place) await countPlaces(query, place, 1, 'waiting = waiting + $1, ready = 1');
          else await enterFlow(query, returned);
          await writeReturned(query, returned, attempt);
          const [row] = await query<CountedRow>(
            `UPDATE tasks SET owner = NULL, channel = NULL, deadline_passed = -1
             WHERE id = $1 AND admission = 'waiting' AND owner = $2
               AND $3 = (SELECT COALESCE(MAX(number), 0) FROM attempts WHERE task_id = $1)
             RETURNING ${COUNTED_COLUMNS}`,
            [taskId, owner, number],
          );
          if (row === undefined) throw new Vanished();
          await query(
            `UPDATE attempts SET outcome = 'refused', error = $1, fault = $2, ended_at = $3
             WHERE task_id = $4 AND number = $5 AND channel = $6`,
            [error, fault ?? null, at, taskId, number, channel],
          );
          leaveCounters(query, taskId, row);
          return true;
        }),
      )) === true,

    finishWaiting: (taskId, finish) =>
      unlessVanished(() =>
        sql.transaction(async (query) => {
          const place = await lockPlace(query, taskId, 0);
          if (place === undefined) return undefined;
          await removeUnclaimed(query, place);
          const times = await finishIn(query, taskId, finish);
          if (times === undefined) throw new Vanished();
          return times;
        }, finish.trace),
      ),

    removePlace: async (taskId) => {
      await sql.write('DELETE FROM waiting WHERE task_id = $1 AND claimed = 1', [taskId]);
    },
    removeOldPlaces: (limit) => {
      const where = `claimed = 1 AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.id = waiting.task_id
        AND tasks.admission = 'waiting' AND tasks.finished_at IS NULL) LIMIT $1`;
      return removeFirst(sql, { table: 'waiting', key: 'task_id', where }, [limit]);
    },
  };
}

async function unlessVanished<T>(change: () => Promise<T>): Promise<T | undefined> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof Vanished) return undefined;
    throw error;
  }
}

/** Locks the account in a lane, if it has been in it. */
export async function lockAccount(query: SqlQuery, { lane, accountId }: Omit<Flow, 'tokenId'>): Promise<void> {
  await query('UPDATE queue_accounts SET ready = ready WHERE lane = $1 AND account_id = $2', [lane, accountId]);
}

/** Locks the account of a place, and returns the place if it still is as `claimed` says, in whichever lane it is then. */
export async function lockPlace(query: SqlQuery, taskId: string, claimed: 0 | 1): Promise<QueuePlace | undefined> {
  for (let tries = 0; tries < PLACE_TRIES_MAX; tries += 1) {
    const [seen] = await query(`SELECT lane, account_id FROM waiting WHERE task_id = $1 AND claimed = $2`, [
      taskId,
      claimed,
    ]);
    if (seen === undefined) return undefined;
    const [lane, accountId] = [text(seen['lane']), text(seen['account_id'])];
    await lockAccount(query, { lane, accountId });
    const [place] = await query(
      `UPDATE waiting SET claimed = claimed WHERE task_id = $1 AND lane = $2 AND claimed = $3 RETURNING ${PLACE.list}`,
      [taskId, lane, claimed],
    );
    if (place !== undefined) return PLACE.read(place);
  }
  return undefined;
}

/** The place of a task that returns: as before, or in another lane, at once or from a time on. */
function moveReturned(place: QueuePlace, { lane = place.lane, notBefore }: ReturnedAttempt): QueuePlace {
  if (notBefore !== undefined) return { ...place, lane: SCHEDULED_LANE, nextLane: lane, notBefore };
  return lane === place.lane ? place : { ...place, lane };
}

async function writeReturned(query: SqlQuery, place: QueuePlace, { refusals }: ReturnedAttempt): Promise<void> {
  const { taskId, lane, nextLane = null, notBefore = null } = place;
  await query(
    'UPDATE waiting SET claimed = 0, lane = $1, next_lane = $2, not_before = $3, refusals = $4 WHERE task_id = $5',
    [lane, nextLane, notBefore, refusals ?? place.refusals, taskId],
  );
}

/** The task that has its turn. */
interface NextPlace extends CountedWork {
  readonly place: QueuePlace;
  readonly weight: number;
}

function sqlTurns(sql: Sql, chooseWithPermits: ChooseWithPermits): TurnStore {
  return {
    claim: async (lane, to, by) => {
      for (let passedOver = 0; passedOver <= PASSED_OVER_MAX; passedOver += 1) {
        const claim = await claimNext(sql, chooseWithPermits, { lane, to, by });
        if (claim !== 'passed over') return claim;
      }
      return { outcome: 'empty' };
    },
    unblock: async (tokenId) => {
      const blocked = await sql.read(
        'SELECT lane, account_id, token_id FROM queue_tokens WHERE ready = 0 AND token_id = $1',
        [tokenId],
      );
      for (const row of blocked) await setReady(sql, toFlow(row), true);
    },
  };
}

interface ClaimRequest {
  readonly lane: string;
  readonly to: OpenChannel;
  readonly by: { readonly owner: string; readonly at: number };
}

/** `passed over`: the next task does not wait any more, or tokens are at their limits. Then another one is next. */
async function claimNext(
  sql: Sql,
  chooseWithPermits: ChooseWithPermits,
  { lane, to: { channel, inFlightMax }, by }: ClaimRequest,
): Promise<Claim | 'passed over'> {
  const ofChannel = { scope: channelScope(channel), limit: inFlightMax };
  let claimed: ClaimedTask | undefined;
  let next: NextPlace | 'none of its account' | undefined;
  try {
    const { chosen, full } = await chooseWithPermits<NextPlace>(
      async (query) => {
        next = await takeNext(sql, query, lane);
        return next === undefined || next === 'none of its account'
          ? undefined
          : { ...next, caps: [...next.caps, ofChannel, countForAccount(ofChannel, channel, next.place)] };
      },
      async (query, { place, weight }, permits) => {
        claimed = await startClaimed(query, { place, weight, channel, ...by, counted: toCountedRow(permits) });
      },
    );
    if (chosen === undefined) return next === undefined ? { outcome: 'empty' } : 'passed over';
    if (full === undefined && claimed !== undefined) return { outcome: 'claimed', ...claimed };
    if (full === undefined || isChannelScope(full) || full === TOTAL_SCOPE)
      return { outcome: 'full', scope: full ?? ofChannel.scope };
    await setReady(sql, chosen.place, false);
  } catch (error) {
    if (!(error instanceof Orphan)) throw error;
    await removeOrphan(sql, error.taskId);
  }
  return 'passed over';
}

/** Accounts take turns here, so an account has no share of its own. Its creates that do not wait count its places. */
function countForAccount({ limit }: Cap, channel: string, { accountId }: QueuePlace): Cap {
  return { scope: channelAccountScope(channel, accountId), limit };
}

/** The task of a place ended, or was decided over, without the queue. */
class Orphan extends Error {
  readonly taskId: string;

  constructor(taskId: string) {
    super(`the task of the place ${taskId} does not wait`);
    this.taskId = taskId;
  }
}

/**
 * Claims the place that has its turn. Returns `none of its account` if all tokens of the account are at their limits.
 */
async function takeNext(
  sql: Sql,
  query: SqlQuery,
  lane: string,
): Promise<NextPlace | 'none of its account' | undefined> {
  const [account] = await query(
    `SELECT account_id, weight FROM queue_accounts WHERE lane = $1 AND waiting > 0 AND ready = 1 AND held = 0
     ORDER BY used, account_id LIMIT 1 ${sql.skipLocked}`,
    [lane],
  );
  if (account === undefined) return undefined;
  const accountId = text(account['account_id']);
  const [row] = await query(
    `UPDATE waiting SET claimed = 1 WHERE claimed = 0 AND task_id = (
       SELECT task_id FROM waiting WHERE claimed = 0 AND lane = $1 AND token_id = (
         SELECT token_id FROM queue_tokens WHERE lane = $1 AND account_id = $2 AND waiting > 0 AND ready = 1
         ORDER BY used, token_id LIMIT 1
       ) ORDER BY rank, task_id LIMIT 1
     ) RETURNING ${PLACE.list}`,
    [lane, accountId],
  );
  if (row === undefined) {
    await recount(query, lane, accountId);
    return 'none of its account';
  }
  const place = PLACE.read(row);
  return { id: place.taskId, caps: place.caps, place, weight: Number(account['weight']) };
}

const HAS_READY_TOKEN = `CASE WHEN EXISTS (
    SELECT 1 FROM queue_tokens WHERE queue_tokens.lane = queue_accounts.lane
      AND queue_tokens.account_id = queue_accounts.account_id AND queue_tokens.waiting > 0 AND queue_tokens.ready = 1
  ) THEN 1 ELSE 0 END`;

/** Counts the places of an account anew, and the places of its tokens that are ready. */
async function recount(query: SqlQuery, lane: string, accountId: string): Promise<void> {
  await query(
    `UPDATE queue_tokens SET waiting = (
       SELECT COUNT(*) FROM waiting WHERE waiting.lane = queue_tokens.lane
         AND waiting.token_id = queue_tokens.token_id AND waiting.claimed = 0
     ) WHERE lane = $1 AND account_id = $2`,
    [lane, accountId],
  );
  await query(
    `UPDATE queue_accounts SET ready = ${HAS_READY_TOKEN}, waiting = (
       SELECT COALESCE(SUM(queue_tokens.waiting), 0) FROM queue_tokens
       WHERE queue_tokens.lane = queue_accounts.lane AND queue_tokens.account_id = queue_accounts.account_id
     ) WHERE lane = $1 AND account_id = $2`,
    [lane, accountId],
  );
}

interface Start {
  readonly place: QueuePlace;
  readonly weight: number;
  readonly owner: string;
  readonly channel: string;
  readonly at: number;
  readonly counted: CountedRow;
}

/** Charges the flow, and writes the attempt as `started`. */
async function startClaimed(query: SqlQuery, start: Start): Promise<ClaimedTask> {
  const { place, weight, owner, channel, at, counted } = start;
  const { taskId, cost } = place;
  const [, , rows, numbers] = await Promise.all([
    updateAccount(query, place, 'used = used + $1, waiting = waiting - 1', computeCharge(cost, weight)),
    updateToken(query, place, 'used = used + $1, waiting = waiting - 1', computeCharge(cost, 1)),
    query(
      `UPDATE tasks SET owner = $1, channel = $2, began_at = $3, deadline_passed = 0, in_flight_json = $4,
         shards_json = $5
       WHERE id = $6 AND admission = 'waiting' AND owner IS NULL AND finished_at IS NULL RETURNING ${TASK.list}`,
      [owner, channel, at, counted.in_flight_json, counted.shards_json, taskId],
    ),
    query(
      `INSERT INTO attempts (task_id, number, channel, outcome, started_at)
       SELECT $1, COALESCE(MAX(number), 0) + 1, $2, 'started', $3 FROM attempts WHERE task_id = $1 RETURNING number`,
      [taskId, channel, at],
    ),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Orphan(taskId);
  return { task: TASK.read(row), place, number: Number(numbers[0]?.['number']) };
}

async function removeOrphan(sql: Sql, taskId: string): Promise<void> {
  await sql.transaction(async (query) => {
    const place = await lockPlace(query, taskId, 0);
    if (place !== undefined) await removeUnclaimed(query, place);
  });
}

async function removeUnclaimed(query: SqlQuery, place: QueuePlace): Promise<void> {
  await countPlaces(query, place, -1);
  await query('DELETE FROM waiting WHERE task_id = $1', [place.taskId]);
}

/** A token that is at its limit is not ready: others have its turns until one of its tasks ends. */
async function setReady(sql: Sql, flow: Flow, isReady: boolean): Promise<void> {
  await sql.transaction(async (query) => {
    await lockAccount(query, flow);
    await updateToken(query, flow, 'ready = $1', isReady ? 1 : 0);
    await query(`UPDATE queue_accounts SET ready = ${HAS_READY_TOKEN} WHERE lane = $1 AND account_id = $2`, [
      flow.lane,
      flow.accountId,
    ]);
  });
}

function toFlow(row: SqlRow): Flow {
  return { lane: text(row['lane']), accountId: text(row['account_id']), tokenId: text(row['token_id']) };
}
