import path from 'node:path';
import { describe } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnBothEngines } from '@reelgate/platform/testing/both-engines';
import { JOB_IDS, drawJobStep, drawLockingJobStep } from '../../testing/jobs/model/job-steps.ts';
import { modelJobStore, newJobsState } from '../../testing/jobs/model/model-job-store.ts';
import type { ModelledJobs } from '../../testing/jobs/model/model-job-store.ts';
import { countIds, sortList } from '../../testing/store/model/drawn-calls.ts';
import { START, drawnSequencesSuite } from '../../testing/store/model/drawn-sequences-suite.ts';
import { newModelState } from '../../testing/store/model/model-state.ts';
import { modelTaskStore } from '../../testing/store/model/model-task-store.ts';
import type { ModelledStore } from '../../testing/store/model/model-task-store.ts';
import { SCOPES, TASK_IDS, drawLockingStep, drawTaskStep } from '../../testing/store/model/task-steps.ts';
import { sqlJobs } from './jobs/sql-jobs.ts';
import { sqlTaskStore } from './tasks/sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
/** Later than any time of a sequence. */
const FAR = START * 2;
const ALL = 100;

describeOnBothEngines('drawn sequences', MIGRATIONS, (engines) => {
  describe('of calls of the task store', () => {
    drawnSequencesSuite(engines, {
      stepsMax: 150,
      newState: newModelState,
      openModel: modelTaskStore,
      open: (sql, process, shardsMax): ModelledStore =>
        sqlTaskStore(sql, countIds(process), (_task, { state }) => ({ type: 'finished', payload: state }), shardsMax),
      step: drawTaskStep,
      lockingStep: drawLockingStep,
      readAll: readTasks,
      readAnnounced: async (sql) => ({
        outbox: await readLines(sql, 'SELECT id FROM outbox'),
        events: await readEvents(sql),
        acts: await readLines(sql, 'SELECT actor, action, subject, detail_json, reason, at FROM operator_acts'),
      }),
      announcedBy: ({ outbox, events, acts }) => ({
        outbox: outbox.toSorted(),
        events: events.toSorted(),
        acts: acts.toSorted(),
      }),
    });
  });

  describe('of calls of the job store', () => {
    drawnSequencesSuite(engines, {
      stepsMax: 100,
      newState: newJobsState,
      openModel: modelJobStore,
      open: (sql, process, shardsMax): ModelledJobs => sqlJobs(sql, countIds(process), shardsMax),
      step: drawJobStep,
      lockingStep: drawLockingJobStep,
      readAll: readJobs,
      readAnnounced: readEvents,
      announcedBy: ({ events }) => events.toSorted(),
    });
  });
});

async function readTasks(store: ModelledStore): Promise<unknown> {
  const tasks = [];
  for (const id of TASK_IDS)
    tasks.push([await store.find(id), await store.attempts(id), sortList(await store.events(id))]);
  const counters = [];
  for (const scope of SCOPES) counters.push([scope, await store.inFlight(scope)]);
  return {
    tasks,
    counters,
    attention: await store.listOpenAttention(),
    processes: await store.heartbeats(),
    unsettled: sortList(await store.listUnsettled({ before: FAR, beyond: FAR, limit: ALL })),
    overdue: sortList(await store.listOverdue(ALL)),
  };
}

async function readJobs(store: ModelledJobs): Promise<unknown> {
  const jobs = [];
  for (const id of JOB_IDS) jobs.push(await store.findJob(id));
  return { jobs, all: await store.listJobs({}, { limit: ALL }) };
}

/** The events that clients hear: each end once. */
function readEvents(sql: Sql): Promise<readonly string[]> {
  return readLines(sql, 'SELECT account_id, type, subject_id, created_at FROM events');
}

async function readLines(sql: Sql, text: string): Promise<readonly string[]> {
  return (await sql.read(text)).map((row) => Object.values(row).map(String).join(' ')).toSorted();
}
