import path from 'node:path';
import { describe } from '@jest/globals';
import fc from 'fast-check';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnBothEngines } from '@reelgate/platform/testing/both-engines';
import { DEFAULT_ENDPOINT } from '../domain/webhook.ts';
import { JOB_IDS, drawJobStep, drawLockingJobStep } from '../../testing/jobs/model/job-steps.ts';
import { modelJobStore, newJobsState } from '../../testing/jobs/model/model-job-store.ts';
import type { ModelledJobs } from '../../testing/jobs/model/model-job-store.ts';
import { countIds, sortList } from '../../testing/store/model/drawn-calls.ts';
import { START, drawnSequencesSuite } from '../../testing/store/model/drawn-sequences-suite.ts';
import { listQueueRows } from '../../testing/store/model/model-queue.ts';
import { newModelState } from '../../testing/store/model/model-state.ts';
import type { ModelState } from '../../testing/store/model/model-state.ts';
import { modelTaskStore } from '../../testing/store/model/model-task-store.ts';
import type { ModelledStore } from '../../testing/store/model/model-task-store.ts';
import {
  LANES,
  QUEUE_ACCOUNTS,
  WAITER_IDS,
  drawLockingQueueSteps,
  drawQueueStep,
} from '../../testing/store/model/queue-steps.ts';
import { SCOPES, drawLockingStep, drawTaskStep } from '../../testing/store/model/task-steps.ts';
import { newModelledWebhooks, modelWebhookStore } from '../../testing/webhooks/model/model-webhook-store.ts';
import type { ModelledWebhooks } from '../../testing/webhooks/model/model-webhook-store.ts';
import {
  ACCOUNTS,
  ENDPOINT_IDS,
  drawLockingWebhookSteps,
  drawWebhookStep,
} from '../../testing/webhooks/model/webhook-steps.ts';
import { newWebhooksState } from '../../testing/webhooks/model/webhooks-state.ts';
import type { WebhooksState } from '../../testing/webhooks/model/webhooks-state.ts';
import { sqlJobs } from './jobs/sql-jobs.ts';
import { sqlTaskStore } from './tasks/sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
/** Later than any time of a sequence. */
const FAR = START * 2;
const ALL = 100;

/** The task store, without what is drawn for it. */
const TASKS = {
  newState: newModelState,
  openModel: modelTaskStore,
  open: (sql: Sql, process: string, shardsMax: number): ModelledStore => ({
    ...sqlTaskStore(sql, countIds(process), (_task, { state }) => ({ type: 'finished', payload: state }), shardsMax),
    putRule: async (accountId, { weight, isHeld }) => {
      await sql.write(
        `INSERT INTO queue_rules (subject, weight, held) VALUES ($1, $2, $3)
         ON CONFLICT (subject) DO UPDATE SET weight = excluded.weight, held = excluded.held`,
        [`account:${accountId}`, weight, isHeld ? 1 : 0],
      );
      await sql.write('UPDATE queue_accounts SET weight = $1, held = $2 WHERE account_id = $3', [
        weight,
        isHeld ? 1 : 0,
        accountId,
      ]);
    },
  }),
  readAll: readTasks,
  readAnnounced: async (sql: Sql) => ({
    outbox: await readLines(sql, 'SELECT id FROM outbox'),
    events: await readEvents(sql),
    acts: await readLines(sql, 'SELECT actor, action, subject, detail_json, reason, at FROM operator_acts'),
    places: await readLines(
      sql,
      `SELECT task_id, lane, account_id, token_id, cost, since, start_by, claimed, not_before, next_lane FROM waiting`,
    ),
    accounts: await readLines(
      sql,
      "SELECT lane, account_id, weight, used, waiting, ready, held FROM queue_accounts WHERE account_id <> ''",
    ),
    tokens: await readLines(sql, 'SELECT lane, account_id, token_id, used, waiting, ready FROM queue_tokens'),
  }),
  announcedBy: (state: ModelState) => {
    const { places, accounts, tokens } = listQueueRows(state);
    return {
      outbox: state.outbox.toSorted(),
      events: state.events.toSorted(),
      acts: state.acts.toSorted(),
      places: toLines(places),
      accounts: toLines(accounts),
      tokens: toLines(tokens),
    };
  },
};

describeOnBothEngines('drawn sequences', MIGRATIONS, (engines) => {
  describe('of calls of the task store', () => {
    drawnSequencesSuite(engines, {
      ...TASKS,
      stepsMax: 150,
      step: drawTaskStep,
      lockingSteps: fc.tuple(drawLockingStep, drawLockingStep),
    });
  });

  describe('of calls about tasks that wait for a channel', () => {
    drawnSequencesSuite(engines, {
      ...TASKS,
      stepsMax: 120,
      step: drawQueueStep,
      lockingSteps: drawLockingQueueSteps,
    });
  });

  describe('of calls of the job store', () => {
    drawnSequencesSuite(engines, {
      stepsMax: 100,
      newState: newJobsState,
      openModel: modelJobStore,
      open: (sql, process, shardsMax): ModelledJobs => sqlJobs(sql, countIds(process), shardsMax),
      step: drawJobStep,
      lockingSteps: fc.tuple(drawLockingJobStep, drawLockingJobStep),
      readAll: readJobs,
      readAnnounced: readEvents,
      announcedBy: ({ events }) => events.toSorted(),
    });
  });

  describe('of calls of the webhook store', () => {
    drawnSequencesSuite(engines, {
      stepsMax: 180,
      newState: newWebhooksState,
      openModel: modelWebhookStore,
      open: newModelledWebhooks,
      step: drawWebhookStep,
      lockingSteps: drawLockingWebhookSteps,
      readAll: readWebhooks,
      readAnnounced: async (sql) => ({
        receivers: await readLines(
          sql,
          'SELECT id, due_at, lease, lease_until, worker, circuit, updated_at FROM webhook_receivers',
        ),
        deliveries: await readLines(sql, 'SELECT id, hurries, url FROM webhook_deliveries'),
        attempts: await readLines(sql, 'SELECT delivery_id, number FROM webhook_attempts'),
        events: await readLines(sql, 'SELECT id, seq FROM events'),
        accounts: await readLines(sql, 'SELECT account_id, endpoints FROM webhook_accounts WHERE endpoints > 0'),
      }),
      announcedBy: listHiddenColumns,
    });
  });
});

async function readTasks(store: ModelledStore): Promise<unknown> {
  const tasks = [];
  for (const id of WAITER_IDS)
    tasks.push([await store.find(id), await store.attempts(id), sortList(await store.events(id))]);
  const counters = [];
  for (const scope of SCOPES) counters.push([scope, await store.inFlight(scope)]);
  const shares = [];
  for (const lane of LANES)
    for (const account of QUEUE_ACCOUNTS) shares.push([lane, account, await store.readShare(lane, account)]);
  return {
    tasks,
    counters,
    shares,
    lanes: await store.listLanes(),
    blocked: await store.listBlocked('', ALL),
    attention: await store.listOpenAttention(),
    processes: await store.heartbeats(),
    clockDoubts: await store.listClockDoubts(0),
    unsettled: sortList(await store.listUnsettled({ before: FAR, beyond: FAR, limit: ALL })),
    overdue: sortList(await store.listOverdue(ALL)),
  };
}

async function readJobs(store: ModelledJobs): Promise<unknown> {
  const jobs = [];
  for (const id of JOB_IDS) jobs.push(await store.findJob(id));
  return { jobs, all: await store.listJobs({}, { limit: ALL }) };
}

async function readWebhooks(store: ModelledWebhooks): Promise<unknown> {
  const accounts = [];
  for (const accountId of ACCOUNTS) {
    const deliveries = [];
    for (const endpointId of [...ENDPOINT_IDS, DEFAULT_ENDPOINT])
      deliveries.push(...(await store.listDeliveries({ accountId, endpointId }, { limit: ALL })));
    accounts.push({
      deliveries,
      attempts: await store.listAttemptsByDelivery(deliveries.map(({ id }) => id)),
      endpoints: await store.listEndpoints(accountId, { limit: ALL }),
      events: await store.eventsAfter({ accountId }, 0, ALL),
    });
  }
  return {
    accounts,
    health: await store.readHealth(ENDPOINT_IDS),
    secrets: await store.listSecrets('', ALL),
    lastPlace: await store.lastPlace(),
    pending: await store.countPendingDeliveries(),
    disabled: await store.countDisabledEndpoints(),
    undispatched: await store.countUndispatchedEvents(),
  };
}

/** What the port does not show, in the form of the rows. */
function listHiddenColumns({ receivers, deliveries, attempts, events, endpoints }: WebhooksState): unknown {
  return {
    receivers: toLines(
      receivers.map((one) => [one.id, one.dueAt, one.lease, one.leaseUntil, one.worker, one.circuit, one.updatedAt]),
    ),
    deliveries: toLines(deliveries.map((one) => [one.id, one.hurries, one.url])),
    attempts: toLines(attempts.map((one) => [one.deliveryId, one.number])),
    events: toLines(events.map((one) => [one.id, one.seq])),
    accounts: toLines(
      [...Map.groupBy(endpoints, ({ accountId }) => accountId)].map(([accountId, some]) => [accountId, some.length]),
    ),
  };
}

function toLines(rows: readonly (readonly (string | number | undefined)[])[]): readonly string[] {
  return rows.map((row) => row.map((value) => String(value ?? null)).join(' ')).toSorted();
}

/** The events for clients: each end once. */
function readEvents(sql: Sql): Promise<readonly string[]> {
  return readLines(sql, 'SELECT account_id, type, subject_id, created_at FROM events');
}

async function readLines(sql: Sql, text: string): Promise<readonly string[]> {
  return (await sql.read(text)).map((row) => Object.values(row).map(String).join(' ')).toSorted();
}
