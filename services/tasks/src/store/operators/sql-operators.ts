import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { OperatorStore } from '../operator-store.ts';
import { sqlActWrites, sqlActs } from './sql-acts.ts';
import { sqlMinutes } from './sql-minutes.ts';
import { sqlPauses } from './sql-pauses.ts';

/** The acts of operators, the pauses of channels, and the counts of minutes that operators watch. */
export function sqlOperators(sql: Sql, newId: NewId): OperatorStore {
  const writeAct = sqlActWrites(newId);
  return { ...sqlPauses(sql, newId, writeAct), ...sqlActs(sql, writeAct), ...sqlMinutes(sql) };
}
