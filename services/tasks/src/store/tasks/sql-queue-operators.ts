import type { Sql } from '@reelgate/platform/sql/sql';
import { inFlag, inNumber, inOptionalNumber, inOptionalText, inText, recordColumns } from '../columns.ts';
import type { FoundPlace, QueueOperatorStore } from '../task-store.ts';

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

export function sqlQueueOperators(sql: Sql): QueueOperatorStore {
  return {
    findPlace: async (taskId) => {
      const [row] = await sql.read(FIND_PLACE, [taskId, POSITION_MAX]);
      return row === undefined ? undefined : FOUND.read(row);
    },
  };
}
