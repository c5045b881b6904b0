import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import { sqlActWrites } from '../operators/sql-acts.ts';
import { sqlAttention } from './sql-attention.ts';
import { sqlCreates } from './sql-creates.ts';
import { sqlNotes } from './sql-history.ts';
import { sqlMoves } from './sql-moves.ts';
import type { ToFinishedEvent } from './sql-moves.ts';
import { sqlListSteps } from './sql-list-steps.ts';
import { sqlChanges, sqlReads } from './sql-reads.ts';
import { sqlRemoval, sqlDeadlines, sqlProcesses, sqlRetention } from './sql-sweeps.ts';
import { sqlQueueReads, sqlSchedule } from './sql-queue-reads.ts';
import { sqlQueue } from './sql-queue.ts';
import { sqlIdleFlows } from './sql-flows.ts';
import { sqlQueueOperators } from './sql-queue-operators.ts';
import { shardsOn, sqlPermits } from './sql-permits.ts';
import type { TaskStore } from '../task-store.ts';
import { sqlPrompts } from '../prompts/sql-prompts.ts';
import { sqlEventWrites } from '../webhooks/sql-events.ts';

export function sqlTaskStore(
  sql: Sql,
  newId: NewId,
  finishedEvent: ToFinishedEvent,
  shardsMax = shardsOn(sql),
): TaskStore {
  const note = sqlNotes(newId);
  const writeAct = sqlActWrites(newId);
  const reads = sqlReads(sql);
  const permits = sqlPermits(sql, shardsMax);
  const { finishIn, ...moves } = sqlMoves(sql, { note, writeAct, finishedEvent, writeEvent: sqlEventWrites(newId) });
  return {
    ...sqlCreates(sql, note, permits),
    ...sqlQueue(sql, { note, finishIn, chooseWithPermits: permits.chooseWithPermits }),
    ...sqlIdleFlows(sql),
    ...sqlSchedule(sql),
    ...sqlQueueReads(sql),
    ...sqlQueueOperators(sql, writeAct),
    ...reads,
    ...sqlListSteps(sql, reads),
    ...sqlChanges(sql),
    ...moves,
    ...sqlRemoval(sql),
    ...sqlAttention(sql, note, writeAct),
    ...sqlDeadlines(sql, note),
    ...sqlProcesses(sql),
    ...sqlRetention(sql),
    ...sqlPrompts(sql),
  };
}
