import type { Sql, SqlQuery, SqlValue } from '@reelgate/platform/sql/sql';
import { nameLane, readLane } from '../../domain/lane.ts';
import { inFlag, inNumber, inOptionalNumber, inOptionalText, inText, optionalText, recordColumns } from '../columns.ts';
import { searchable, selectTexts, text, toInsert } from '../columns.ts';
import type { WriteAct } from '../operators/sql-acts.ts';
import { LANES_MAX } from '../queue-store.ts';
import type {
  FoundPlace,
  PlaceMover,
  QueueHoldStore,
  QueueOperatorStore,
  QueueSubject,
  QueueWeightStore,
  WaitingAccount,
  WaitingLane,
  WaitingReads,
} from '../queue-store.ts';
import { countPlaces, enterFlow } from './sql-flows.ts';
import { lockPlace } from './sql-queue.ts';
import { TASK } from './task-rows.ts';

/** The places before a place that are counted. */
const POSITION_MAX = 1000;

const FOUND = recordColumns<FoundPlace>({
  taskId: inText('task_id'),
  lane: inText('lane'),
  nextLane: inOptionalText('next_lane'),
  notBefore: inOptionalNumber('not_before'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  cost: inNumber('cost'),
  since: inNumber('since'),
  startBy: inNumber('start_by'),
  position: inNumber('position'),
  isReady: inFlag('ready'),
  isHeld: inFlag('held'),
  weight: inNumber('weight'),
  weights: inNumber('weights'),
});

const FIND_PLACE = `SELECT place.task_id, place.lane, place.next_lane, place.not_before, place.account_id,
    place.token_id, place.cost, place.since, place.start_by, token.ready, account.held, account.weight,
    (SELECT COUNT(*) FROM (
       SELECT 1 FROM waiting AS earlier WHERE earlier.lane = place.lane AND earlier.token_id = place.token_id
         AND earlier.claimed = 0 AND (earlier.rank, earlier.task_id) < (place.rank, place.task_id) LIMIT $2
     ) AS counted) AS position,
    (SELECT COALESCE(SUM(active.weight), 0) FROM queue_accounts AS active
     WHERE active.lane = place.lane AND active.waiting > 0 AND active.ready = 1 AND active.held = 0) AS weights
  FROM waiting AS place
  JOIN queue_accounts AS account ON account.lane = place.lane AND account.account_id = place.account_id
  JOIN queue_tokens AS token ON token.lane = place.lane AND token.account_id = place.account_id
    AND token.token_id = place.token_id
  WHERE place.task_id = $1 AND place.claimed = 0`;

const OLDEST = `(SELECT MIN(place.since) FROM waiting AS place
    WHERE place.account_id = flow.account_id AND place.lane = flow.lane AND place.claimed = 0)`;

const WAITING_LANE = recordColumns<WaitingLane>({
  lane: inText('lane'),
  waiting: inNumber('waiting'),
  oldestSince: inNumber('oldest'),
  weights: inNumber('weights'),
});

const LIST_LANES = `SELECT lane, SUM(waiting) AS waiting, MIN(oldest) AS oldest, SUM(active) AS weights FROM (
    SELECT flow.lane, flow.waiting, ${OLDEST} AS oldest,
      CASE WHEN flow.ready = 1 AND flow.held = 0 THEN flow.weight ELSE 0 END AS active
    FROM queue_accounts AS flow WHERE flow.waiting > 0
  ) AS flows GROUP BY lane ORDER BY lane LIMIT $1`;

const WAITING_ACCOUNT = recordColumns<WaitingAccount>({
  lane: inText('lane'),
  accountId: inText('account_id'),
  waiting: inNumber('waiting'),
  oldestSince: inNumber('oldest'),
  weight: inNumber('weight'),
  isReady: inFlag('ready'),
  isHeld: inFlag('held'),
});

const ACCOUNT = 'account:';
const MODEL = 'model:';

export function sqlQueueOperators(sql: Sql, writeAct: WriteAct): QueueOperatorStore {
  return {
    ...sqlWaitingReads(sql),
    ...sqlWeights(sql, writeAct),
    ...sqlQueueHolds(sql, writeAct),
    ...sqlMovePlace(sql, writeAct),
  };
}

function sqlWaitingReads(sql: Sql): WaitingReads {
  return {
    findPlace: async (taskId) => {
      const [row] = await sql.read(FIND_PLACE, [taskId, POSITION_MAX]);
      return row === undefined ? undefined : FOUND.read(row);
    },
    listWaitingLanes: async () => (await sql.read(LIST_LANES, [LANES_MAX])).map(WAITING_LANE.read),
    listWaitingAccounts: async ({ lanes, accountId }, limit) => {
      if (lanes.length === 0) return [];
      const values: SqlValue[] = [limit];
      const named = lanes.map((lane) => `$${values.push(lane)}`).join(', ');
      const whose = accountId === undefined ? '' : `AND flow.account_id = $${values.push(searchable(accountId))}`;
      const rows = await sql.read(
        `SELECT flow.lane, flow.account_id, flow.waiting, flow.weight, flow.ready, flow.held, ${OLDEST} AS oldest
         FROM queue_accounts AS flow WHERE flow.waiting > 0 AND flow.lane IN (${named}) ${whose}
         ORDER BY oldest, lane, account_id LIMIT $1`,
        values,
      );
      return rows.map(WAITING_ACCOUNT.read);
    },
    listWaitingTasks: async ({ accountId, tokenId }, limit) => {
      const values: SqlValue[] = [limit, searchable(accountId)];
      const whose = tokenId === undefined ? '' : `AND waiting.token_id = $${values.push(searchable(tokenId))}`;
      const rows = await sql.read(
        `SELECT ${TASK.names.map((name) => `tasks.${name}`).join(', ')} FROM waiting JOIN tasks ON tasks.id = task_id
         WHERE waiting.claimed = 0 AND waiting.account_id = $2 ${whose} ORDER BY since, task_id LIMIT $1`,
        values,
      );
      return rows.map(TASK.read);
    },
    listHeldModels: async () => {
      const held = 'queue_rules WHERE held = 1 AND subject LIKE $1 ORDER BY subject LIMIT $2';
      const subjects = await selectTexts(sql.read, 'subject', held, [`${MODEL}%`, LANES_MAX]);
      return subjects.map((subject) => subject.slice(MODEL.length));
    },
  };
}

function sqlWeights(sql: Sql, writeAct: WriteAct): QueueWeightStore {
  const setWeight = async (query: SqlQuery, accountId: string, weight: number): Promise<void> => {
    await query('UPDATE queue_accounts SET weight = $1 WHERE account_id = $2', [weight, accountId]);
    await removeEmptyRule(query, nameSubject({ account: accountId }));
  };
  return {
    setQueueWeight: (accountId, { weight, until }, by) =>
      sql.transaction(async (query) => {
        const subject = nameSubject({ account: accountId });
        await query(
          ...toInsert(
            'queue_rules',
            { subject, weight, weight_until: until ?? null },
            'ON CONFLICT (subject) DO UPDATE SET weight = excluded.weight, weight_until = excluded.weight_until',
          ),
        );
        await setWeight(query, accountId, weight);
        const detail = { weight, until: until === undefined ? undefined : new Date(until).toISOString() };
        await writeAct(query, { ...by, action: 'queue_weight_set', subject: accountId, detail });
      }),
    endOldWeights: (now, limit) =>
      sql.transaction(async (query) => {
        const ended = await query(
          `UPDATE queue_rules SET weight = 1, weight_until = NULL WHERE subject IN (
             SELECT subject FROM queue_rules WHERE weight_until <= $1 ORDER BY subject LIMIT $2 ${sql.skipLocked}
           ) RETURNING subject`,
          [now, limit],
        );
        for (const { subject } of ended) await setWeight(query, text(subject).slice(ACCOUNT.length), 1);
        return ended.length;
      }),
  };
}

function sqlQueueHolds(sql: Sql, writeAct: WriteAct): QueueHoldStore {
  const setHeld = async (query: SqlQuery, of: QueueSubject, held: 0 | 1): Promise<void> => {
    if ('account' in of) await query('UPDATE queue_accounts SET held = $1 WHERE account_id = $2', [held, of.account]);
  };
  return {
    holdQueue: (of, by) =>
      sql.transaction(async (query) => {
        const held = await query(
          ...toInsert(
            'queue_rules',
            { subject: nameSubject(of), held: 1 },
            'ON CONFLICT (subject) DO UPDATE SET held = 1 WHERE queue_rules.held = 0 RETURNING subject',
          ),
        );
        if (held.length === 0) return false;
        await setHeld(query, of, 1);
        await writeAct(query, { ...by, action: 'queue_held', subject: readSubjectId(of), detail: of });
        return true;
      }),
    releaseQueue: (of, by) =>
      sql.transaction(async (query) => {
        const subject = nameSubject(of);
        const released = await query(
          'UPDATE queue_rules SET held = 0 WHERE subject = $1 AND held = 1 RETURNING subject',
          [subject],
        );
        if (released.length === 0) return false;
        await setHeld(query, of, 0);
        await removeEmptyRule(query, subject);
        await writeAct(query, { ...by, action: 'queue_released', subject: readSubjectId(of), detail: of });
        return true;
      }),
  };
}

function nameSubject(of: QueueSubject): string {
  return 'account' in of ? `${ACCOUNT}${of.account}` : `${MODEL}${of.model}`;
}

function readSubjectId(of: QueueSubject): string {
  return 'account' in of ? of.account : of.model;
}

/** Removes a rule that equals the default. */
async function removeEmptyRule(query: SqlQuery, subject: string): Promise<void> {
  await query('DELETE FROM queue_rules WHERE subject = $1 AND weight = 1 AND weight_until IS NULL AND held = 0', [
    subject,
  ]);
}

function sqlMovePlace(sql: Sql, writeAct: WriteAct): PlaceMover {
  return {
    movePlace: (taskId, { class: ofClass, first }, by) =>
      sql.transaction(async (query) => {
        const place = await lockPlace(query, taskId, 0);
        if (place === undefined) return undefined;
        const [scheduled] = await query('SELECT next_lane FROM waiting WHERE task_id = $1', [taskId]);
        const nextLane = optionalText(scheduled?.['next_lane']);
        const from = nextLane ?? place.lane;
        const to = ofClass === undefined ? from : nameLane({ ...readLane(from), class: ofClass });
        if (to === from && !first) return to;
        if (nextLane !== undefined) await query('UPDATE waiting SET next_lane = $1 WHERE task_id = $2', [to, taskId]);
        else if (to !== from) {
          await countPlaces(query, place, -1);
          await enterFlow(query, { ...place, lane: to });
          await query('UPDATE waiting SET lane = $1 WHERE task_id = $2', [to, taskId]);
        }
        if (first)
          await query(
            `UPDATE waiting SET rank = (SELECT COALESCE(MIN(other.rank), 0) - 1 FROM waiting AS other
               WHERE other.lane = $1 AND other.token_id = $2 AND other.claimed = 0) WHERE task_id = $3`,
            [to, place.tokenId, taskId],
          );
        const detail = { from: readLane(from).class, to: readLane(to).class, first };
        await writeAct(query, { ...by, action: 'queue_task_moved', subject: taskId, detail });
        return to;
      }),
  };
}
