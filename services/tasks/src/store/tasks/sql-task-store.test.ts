import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines, describePooled } from '../../../testing/store/describe-on-engines.ts';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { describe } from '@jest/globals';
import { sqlTaskStore } from './sql-task-store.ts';
import type { TaskStore } from '../task-store.ts';
import { attemptsConformance } from '../../../testing/store/attempts-conformance.ts';
import { attentionConformance } from '../../../testing/store/attention-conformance.ts';
import { backlogConformance } from '../../../testing/store/backlog-conformance.ts';
import { changesConformance } from '../../../testing/store/changes-conformance.ts';
import { createsConformance } from '../../../testing/store/creates-conformance.ts';
import { deadlinesConformance } from '../../../testing/store/deadlines-conformance.ts';
import { filtersConformance } from '../../../testing/store/filters-conformance.ts';
import { movesConformance } from '../../../testing/store/moves-conformance.ts';
import type { OpenStore } from '../../../testing/store/opened-store.ts';
import { queueConformance } from '../../../testing/store/queue-conformance.ts';
import { queueOperatorsConformance } from '../../../testing/store/queue-operators-conformance.ts';
import { readsConformance } from '../../../testing/store/reads-conformance.ts';
import { retentionConformance } from '../../../testing/store/retention-conformance.ts';
import { selfChecksConformance } from '../../../testing/store/self-checks-conformance.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

const suite = (open: OpenSql): void => {
  const newId = newIds(fakeClock());
  const storeOn = (sql: Sql): TaskStore =>
    sqlTaskStore(sql, newId, (_task, { state }) => ({ type: 'finished', payload: JSON.stringify({ state }) }));

  taskStoreConformance(async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    return { store: storeOn(sql), other: storeOn(open()), sql };
  });
};

describeOnEngines('the task store', suite);
describePooled('the task store', suite);

/** The guarantees of every task store. */
function taskStoreConformance(open: OpenStore): void {
  describe('creates', () => createsConformance(open));
  describe('attempts', () => attemptsConformance(open));
  describe('the queue', () => queueConformance(open));
  describe('the queue of operators', () => queueOperatorsConformance(open));
  describe('moves', () => movesConformance(open));
  describe('reads', () => readsConformance(open));
  describe('filters', () => filtersConformance(open));
  describe('changes', () => changesConformance(open));
  describe('backlogs', () => backlogConformance(open));
  describe('deadlines', () => deadlinesConformance(open));
  describe('self checks', () => selfChecksConformance(open));
  describe('retention', () => retentionConformance(open));
  describe('attention and processes', () => attentionConformance(open));
}
