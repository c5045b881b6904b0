import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { firstIdAt, newIds } from '@reelgate/platform/ids';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { AT, aRecord, added, anEvent, attempted, dispatched, leased } from '../../testing/webhooks/opened-webhooks.ts';
import { explained } from '../../testing/store/explained.ts';
import type { BacklogStore } from './backlog-store.ts';
import type { JobRetentionStore, JobStore } from './job-store.ts';
import { sqlBatches } from './batches/sql-batches.ts';
import { sqlJobs } from './jobs/sql-jobs.ts';
import { sqlSelfChecks } from './tasks/sql-backlog.ts';
import { sqlBacklog } from './tasks/sql-backlog.ts';
import { sqlTaskStore } from './tasks/sql-task-store.ts';
import type { OperatorStore } from './operator-store.ts';
import { sqlOperators } from './operators/sql-operators.ts';
import type { TaskStore } from './task-store.ts';
import type { WebhookStore } from './webhook-store.ts';
import { sqlWebhooks } from './webhooks/sql-webhooks.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
let folder = '';
let sql: Sql;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-plans-'));
  sql = await openSql({ url: undefined, dataDir: folder, name: 'tasks', migrations: MIGRATIONS });
});
afterEach(async () => {
  await sql.close();
  rmSync(folder, { recursive: true });
});

/** The query plans of SQLite for every statement of a call. */
async function plansOf(
  call: (store: TaskStore, jobs: JobStore & JobRetentionStore, backlog: BacklogStore) => Promise<unknown>,
): Promise<string[]> {
  const plans: string[] = [];
  const noted: Promise<void>[] = [];
  const watched = explained(sql, plans, noted);
  const newId = newIds(fakeClock());
  await call(
    sqlTaskStore(watched, newId, () => ({ type: 'finished', payload: '{}' })),
    sqlJobs(watched, newId),
    sqlBacklog(watched),
  );
  await Promise.all(noted);
  return plans;
}

test.each<[string, string, (store: TaskStore) => Promise<unknown>]>([
  [
    'the due tasks of a channel',
    'tasks_due',
    (store) => store.claimDue('main', { now: 1, leaseUntil: 2, limit: 10, owner: 'proc_1' }),
  ],
  ['the next due task of a channel', 'tasks_due', (store) => store.findNextDue('main', 1)],
  ['the first unsettled task', 'tasks_unsettled', (store) => store.findFirstUnsettled()],
  ['the unsettled tasks', 'tasks_unsettled', (store) => store.listUnsettled({ before: 1, beyond: 2, limit: 10 })],
  ['the overdue tasks', 'tasks_unfinished', (store) => store.listOverdue(10)],
  ['the tasks past the soft deadline', 'tasks_unfinished', (store) => store.listLate('soft', 1, 10)],
  ['the tasks past the hard deadline', 'tasks_unfinished', (store) => store.listLate('hard', 1, 10)],
  ['the doubts about clocks', 'clock_doubts_1', (store) => store.listClockDoubts(1)],
  ['creates of dead processes', 'tasks_unsure', (store) => store.listAbandoned(['proc_1', 'proc_2'], 10)],
  ['the creates of a process', 'tasks_unsure', (store) => store.listOwnedCreateIds('proc_1', 10)],
  ['claimed tasks of dead processes', 'tasks_claimed', (store) => store.listAbandoned(['proc_1'], 10)],
  ['the claimed tasks of a process', 'tasks_claimed', (store) => store.listOwnedCreateIds('proc_1', 10)],
  ['the claimed tasks', 'tasks_claimed', (store) => store.listWithAdmission('waiting', { limit: 10, after: 'task_1' })],
  ['the tasks that wait in vain', 'waiting_by_end', (store) => store.listExpired(1, 10)],
  ['a token that has room again', 'queue_tokens_blocked', (store) => store.unblock('token_1')],
  ['the flows of empty lanes', 'waiting_oldest', (store) => store.removeIdleFlows(10)],
  ['a place of a dead process', 'waiting_claimed', (store) => store.removeOldPlaces(10)],
  ['the tasks that a process polls', 'tasks_due', (store) => store.listLeasedIds('main', 'proc_1')],
  ['the tasks that are due too late', 'tasks_due', (store) => store.pullIn('main', { beyond: 2, to: 1, limit: 10 })],
  ['the unknown tasks', 'tasks_unsure', (store) => store.listWithAdmission('unknown', { limit: 10, after: 'task_1' })],
  [
    'the tasks under submission',
    'tasks_unsure',
    (store) => store.listWithAdmission('submitting', { limit: 10, after: 'task_1' }),
  ],
  ['the tasks with an upstream id', 'tasks_by_upstream', (store) => store.findKnownUpstreamIds('vendor', ['1', '2'])],
  [
    "an owner's page",
    'tasks_by_account',
    (store) => store.list({ accountId: 'acme', states: ['queued'] }, { limit: 10, after: 'task_1' }),
  ],
  ["a step of an owner's list", 'tasks_by_account', (store) => store.listStep({ accountId: 'acme' }, { limit: 10 })],
  [
    "a step of an owner's failures",
    'tasks_failed',
    (store) => store.listStep({ accountId: 'acme', states: ['failed'], model: 'm' }, { limit: 10, after: 'task_1' }),
  ],
  [
    "a step of an owner's unfinished tasks",
    'tasks_changed',
    (store) => store.listStep({ accountId: 'acme', states: ['queued'] }, { limit: 10, after: 'task_1' }),
  ],
  [
    'a step of the list of an operator',
    'sqlite_autoindex_tasks_1',
    (store) => store.listStep({ hidden: true, channel: 'main' }, { limit: 10, after: 'task_1' }),
  ],
  [
    'the list of an upstream id',
    'tasks_by_upstream',
    (store) => store.listStep({ hidden: true, upstream: { accounts: ['a', 'b'], id: '1' } }, { limit: 10 }),
  ],
  [
    'a search for words',
    'autoindex_prompt_words_1',
    (store) =>
      store.listStep({ accountId: 'acme', prompt: { whole: ['red', 'car'], beginning: 'kit' } }, { limit: 10 }),
  ],
  [
    'a search for the beginning of a word',
    'autoindex_prompt_words_1',
    (store) => store.listStep({ accountId: 'acme', prompt: { whole: [], beginning: 'kit' } }, { limit: 10 }),
  ],
  [
    'the count of a search',
    'autoindex_read_prompts_1',
    (store) => store.countStep({ accountId: 'acme', prompt: { whole: ['red'], beginning: undefined } }, 10),
  ],
  [
    "a step of an operator's search",
    'autoindex_read_prompts_1',
    (store) =>
      store.listStep(
        { hidden: true, prompt: { whole: ['red'], beginning: undefined } },
        { limit: 10, after: 'task_1' },
      ),
  ],
  ['the count of a list', 'tasks_by_account', (store) => store.countStep({ accountId: 'acme' }, 10)],
  ['the ends whose prompts may be unread', 'events_by_seq', (store) => store.listEndsAfter(1, 10)],
  [
    'the prompts of new tasks',
    'autoindex_tasks_1',
    (store) => store.listNewPrompts({ after: 'task_1', before: 'task_2', limit: 10 }),
  ],
  ['the unread prompts', 'autoindex_read_prompts_1', (store) => store.listUnreadPrompts(['task_1'])],
  ['the words of removed tasks', 'autoindex_read_prompts_1', (store) => store.listLeftWords('task_1', 10)],
  [
    'the removal of words',
    'autoindex_prompt_words_1',
    (store) => store.removeWords([{ id: 'task_1', accountId: 'acme', words: ['red'] }]),
  ],
  [
    'the changes of some accounts',
    'tasks_changed',
    (store) => store.listChanges(['acme', 'rival'], { at: 1, id: 'task_1' }, 10),
  ],
  [
    'the changes of an owner',
    'tasks_changed',
    (store) => store.listChangedTasks({ accountId: 'acme' }, { at: 1, id: '' }, 10),
  ],
  [
    'the unfinished tasks of an owner',
    'tasks_changed',
    (store) =>
      store.listChangedTasks(
        { accountId: 'acme', states: ['queued', 'in_progress'], model: 'm' },
        { at: 0, id: '' },
        10,
      ),
  ],
  ['versions of tasks', 'autoindex_tasks_1', (store) => store.versions(['task_1', 'task_2'])],
  ["an owner's task", 'autoindex_tasks_1', (store) => store.findOwned('acme', 'task_1')],
  ['a call of an upstream', 'autoindex_tasks_1', (store) => store.pollSoon('task_1', 1)],
  [
    'a poll',
    'autoindex_tasks_1',
    (store) =>
      store.progress('task_1', 'queued', {
        state: 'queued',
        unrecognised: false,
        progress: 0,
        pollErrors: 0,
        nextPollAt: 1,
        at: 1,
      }),
  ],
  ['the end of a task', 'autoindex_tasks_1', (store) => store.finish('task_1', { state: 'failed', at: 1 })],
  ['a refusal', 'autoindex_tasks_1', (store) => store.refuse('task_1', { code: 'x', message: 'y' }, 1)],
  ['an adoption', 'tasks_by_upstream', (store) => store.adopt('task_1', '1', 1)],
  [
    'the tasks that are old enough to remove',
    'tasks_settled',
    (store) => store.removeFinished({ before: 1, now: 1, limit: 10 }),
  ],
  ['the work of a lost task', 'tasks_unsure', (store) => store.removeFinished({ before: 1, now: 1, limit: 10 })],
  ['an expired idempotency key', 'idempotency_keys_by_end', (store) => store.removeKeys(1, 10)],
  ['an idempotency key', 'autoindex_idempotency_keys_1', (store) => store.findKey('acme', 'k', 1)],
])('%s uses %s for any number of tasks', async (_what, index, call) => {
  const plans = await plansOf(call);

  expect(plans).toContainEqual(expect.stringContaining(`${index} (`));
  // A page of each state, what is unfinished, or the tasks of some words have been found by then.
  expect(plans).not.toContainEqual(
    expect.stringMatching(/^SCAN (?!(\w+_page|unfinished|found|examined|CONSTANT ROW)$)/),
  );
});

test.each([{}, { accountId: 'acme' }])(
  'the unfinished tasks of %j are found for operators among those alone',
  async (of) => {
    const plans = await plansOf((store) => store.listStep({ hidden: true, states: ['queued'], ...of }, { limit: 10 }));

    expect(plans.filter((step) => step.includes('tasks'))).toEqual([
      'SCAN tasks USING INDEX tasks_unfinished',
      'SEARCH tasks USING INDEX sqlite_autoindex_tasks_1 (id=?)',
      'SCAN tasks USING INDEX tasks_unfinished',
    ]);
  },
);

test.each<[string, string, (jobs: JobStore & JobRetentionStore) => Promise<unknown>]>([
  [
    'the jobs for a worker',
    'jobs_due',
    (jobs) => jobs.leaseJobs({ worker: 'w', lease: 'l', now: 1, until: 2, limit: 10 }),
  ],
  ['the jobs with an ended lease', 'jobs_leased', (jobs) => jobs.lostJobs(1, 10)],
  ['a job that is withdrawn', 'autoindex_jobs_1', (jobs) => jobs.withdrawJob({ jobId: 'job_1', lease: 'l' })],
  ['a request that is no longer needed', 'jobs_spent', (jobs) => jobs.spentBodies(10)],
  ['a job that is old enough to remove', 'jobs_ended', (jobs) => jobs.oldJobs({ before: 1, now: 1, limit: 10 })],
  ['a lease', 'autoindex_jobs_1', (jobs) => jobs.renewLeases([{ jobId: 'job_1', lease: 'l' }], 1, 2)],
  ['a start', 'autoindex_jobs_1', (jobs) => jobs.startJob({ jobId: 'job_1', lease: 'l' }, 1)],
  [
    'the end of a job',
    'autoindex_jobs_1',
    (jobs) => jobs.finishJob({ jobId: 'job_1', lease: 'l' }, { state: 'completed', at: 1 }),
  ],
  ["an owner's job", 'autoindex_jobs_1', (jobs) => jobs.findJob('job_1')],
])('%s uses %s for any number of jobs', async (_what, index, call) => {
  const plans = await plansOf((_store, jobs) => call(jobs));

  expect(plans).toContainEqual(expect.stringContaining(`${index} (`));
  // the due tasks have been found by then
  expect(plans).not.toContainEqual(expect.stringMatching(/^SCAN (?!fair$|due$|longest$|running$|\(subquery-\d+\)$)/));
});

test.each<[string, string, (backlog: BacklogStore) => Promise<unknown>]>([
  ['unfinished tasks by state and channel', 'COVERING INDEX tasks_unfinished', (backlog) => backlog.openTasks()],
  [
    'the oldest due poll of a channel',
    'INDEX tasks_due (channel=? AND next_poll_at>? AND next_poll_at<?)',
    (backlog) => backlog.dueSince(['main', 'second'], 1),
  ],
  ['what waits for a person', 'INDEX attention_open', (backlog) => backlog.countAttention()],
  ['the tasks that wait in each lane', 'INDEX waiting_oldest (lane=?)', (backlog) => backlog.countLanes()],
  ['the oldest unsettled end', 'COVERING INDEX tasks_unsettled', (backlog) => backlog.countUnsettled()],
])('%s are counted in an index of what runs or waits', async (_what, index, call) => {
  const plans = await plansOf((_store, _jobs, backlog) => call(backlog));

  expect(plans).toContainEqual(expect.stringContaining(index));
  // a subquery has at most as many rows as its limit, or one for each channel
  expect(plans).not.toContainEqual(
    expect.stringMatching(
      /^SCAN (?!(?:waiting|asked)$|.* USING COVERING INDEX |(?:attention|queue_accounts) USING INDEX |CONSTANT)/,
    ),
  );
});

test('the late tasks are found among the unfinished ones, a page of each mark', async () => {
  const plans: string[] = [];
  await sqlSelfChecks(explained(sql, plans)).lateTasks(1);

  expect(plans.filter((step) => step.includes('tasks USING'))).toEqual([
    'SEARCH tasks USING INDEX tasks_unfinished (deadline_passed=? AND created_at<?)',
    'SEARCH tasks USING INDEX tasks_unfinished (deadline_passed=? AND created_at<?)',
  ]);
  expect(plans).toContainEqual(
    expect.stringMatching(/^SEARCH waiting USING INDEX sqlite_autoindex_attention_1 \(task_id=\?\)/),
  );
});

test.each<[string, readonly string[], (store: TaskStore, operators: OperatorStore) => Promise<unknown>]>([
  [
    'the attention queue',
    ['INDEX attention_open', 'tasks USING INDEX sqlite_autoindex_tasks_1', 'jobs USING INDEX sqlite_autoindex_jobs_1'],
    (store) => store.listOpenAttention(),
  ],
  ['the acts', ['autoindex_operator_acts_1'], (_store, operators) => operators.acts({}, { limit: 9, after: 'x' })],
  [
    'the acts over a subject',
    ['operator_acts_by_subject'],
    (_store, operators) => operators.acts({ subject: 'main' }, { limit: 9, after: 'x' }),
  ],
  ['the removal of acts', ['autoindex_operator_acts_1'], (_store, operators) => operators.removeActs(1, 9)],
  ['the counts of an hour', ['autoindex_minute_counts_1'], (_store, operators) => operators.minutesSince(1, 9)],
  ['the removal of counts', ['autoindex_minute_counts_1'], (_store, operators) => operators.removeMinutes(1, 9)],
  ['the faults of an hour', ['autoindex_fault_minutes_1'], (_store, operators) => operators.faultsSince(1, 9)],
  ['the failures of a channel', ['channel_failures_by_channel'], (_store, ops) => ops.channelFailures('main', 9)],
  [
    'the removal of faults',
    ['autoindex_fault_minutes_1', 'autoindex_channel_failures_1'],
    (_store, operators) => operators.removeFaults(1, 9),
  ],
  [
    'a search by an id',
    ['autoindex_tasks_1', 'autoindex_jobs_1'],
    (_store, operators) => operators.findWork('id', 'task_1', 9),
  ],
  [
    'a search by a request id of a client',
    ['tasks_by_request', 'jobs_by_request'],
    (_store, operators) => operators.findWork('request_id', 'order-7', 9),
  ],
  [
    'a search by a request id of ours',
    ['tasks USING INDEX sqlite_autoindex_tasks_1', 'jobs USING INDEX sqlite_autoindex_jobs_1'],
    (_store, operators) => operators.findWork('request_id', firstIdAt('req', 1), 9),
  ],
  [
    'a search by a trace',
    ['tasks_by_trace', 'jobs_by_trace'],
    (_store, operators) => operators.findWork('trace_id', '4bf92f3577b34da6a3ce929d0e0e4736', 9),
  ],
  ['service events', ['autoindex_service_events_1'], (_store, operators) => operators.listServiceEvents(1, 9)],
  ['what waits since a time', ['attention_by_time'], (_store, operators) => operators.raisedSince(1, 9)],
  ['a mark', ['autoindex_hand_over_marks_1'], (_store, operators) => operators.findMark('ann')],
  ['the notes of a subject', ['operator_notes_by_subject'], (_store, operators) => operators.notes('main')],
  ['a note', ['autoindex_operator_notes_1'], (_store, operators) => operators.findNote('note_1')],
])('%s uses %j for any number of rows', async (_what, indexes, call) => {
  const plans: string[] = [];
  const noted: Promise<void>[] = [];
  const watched = explained(sql, plans, noted);
  const newId = newIds(fakeClock());
  await call(
    sqlTaskStore(watched, newId, () => ({ type: 'finished', payload: '{}' })),
    sqlOperators(watched, newId),
  );

  for (const index of indexes) expect(plans).toContainEqual(expect.stringContaining(index));
  // a page of acts is read along its index
  const whole = plans.filter((step) => /^(SCAN (?!.*USING|waiting$|near$)|.*TEMP B-TREE)/.test(step));
  expect(whole.filter((step) => !step.startsWith('USE TEMP B-TREE FOR LAST TERM'))).toEqual([]);
});

test("an owner's failures are listed and counted without going along its other tasks", async () => {
  const failures = { accountId: 'acme', states: ['failed'] } as const;
  const plans = await plansOf((store) =>
    Promise.all([store.listStep(failures, { limit: 10 }), store.countStep(failures, 10)]),
  );
  expect(plans.filter((step) => /tasks USING(?!.*tasks_failed)/.test(step))).toEqual([]);
});

const OF_WHAT_WAITS = [
  'SCAN events USING INDEX events_undispatched',
  'SCAN webhook_deliveries USING COVERING INDEX webhook_deliveries_due',
];
const OF_A_SUBQUERY =
  /^SCAN (alike|placed|waiting|fair|due|longest|leased|pending|newer|oldest|disabled|v|\(subquery-\d+\)|CONSTANT ROW)$/;

describe('the statements of webhooks', () => {
  /** The plans of a call on a store with pending deliveries, a new event and a leased receiver. */
  const plansWith = async (call: (store: WebhookStore) => Promise<unknown>): Promise<string[]> => {
    const newId = newIds(fakeClock(AT));
    const store = sqlWebhooks(sql, newId);
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1', 'evt_2']);
    await leased(store, { lease: 'lease_a', until: AT + 1000 });
    await dispatched(store, ['evt_3'], { url: 'https://site.example/' });
    await store.addEvent(anEvent('evt_4'));
    const plans: string[] = [];
    await call(sqlWebhooks(explained(sql, plans), newId));
    return plans;
  };
  const HELD = { id: 'whe_1', lease: 'lease_a' };

  test.each<[string, readonly string[], (store: WebhookStore) => Promise<unknown>]>([
    [
      'a dispatch',
      ['events_undispatched', 'webhook_endpoints_by_account'],
      (store) => store.dispatch({ now: AT, limit: 200 }),
    ],
    [
      'a lease',
      ['webhook_receivers_due', 'webhook_receivers_leased', 'webhook_deliveries_due'],
      (store) => leased(store),
    ],
    ['a half-open lease', ['webhook_deliveries_due'], (store) => leased(store, { failuresMax: 0 })],
    [
      'a record',
      ['autoindex_webhook_receivers_1', 'autoindex_webhook_deliveries_1', 'webhook_deliveries_due'],
      async (store) => {
        const [delivery] = await store.listDeliveries({ accountId: 'acme', endpointId: 'whe_1' }, { limit: 1 });
        const failed = attempted(delivery!.id, { number: 0, status: 500 });
        return store.recordAttempts([aRecord(HELD, [failed], { disable: 'gone' })]);
      },
    ],
    [
      'the held receivers',
      ['autoindex_webhook_receivers_1'],
      (store) => store.findHeldReceivers([{ receiverId: 'whe_1', lease: 'lease_a' }]),
    ],
    ['a stream', ['events_by_account'], (store) => store.eventsAfter({ accountId: 'acme' }, 1, 10)],
    ['the last event of an account', ['events_by_account'], (store) => store.lastEvent('acme')],
    ['the accounts with newer events', ['events_by_seq'], (store) => store.lastPlaces(1, 10)],
    ['the place of an event', ['autoindex_events_1'], (store) => store.findPlace('acme', 'evt_1')],
    [
      'the removal of what is old',
      ['autoindex_webhook_deliveries_1', 'events_by_seq', 'webhook_receivers_idle'],
      (store) => store.removeOldWebhooks({ before: AT + 10, limit: 100 }),
    ],
    [
      'the pending deliveries',
      ['webhook_deliveries_due', 'webhook_receivers_due'],
      (store) => store.countPendingDeliveries(),
    ],
    ['the disabled endpoints', ['webhook_endpoints_disabled'], (store) => store.countDisabledEndpoints()],
    ['the new events', ['events_undispatched'], (store) => store.countUndispatchedEvents()],
    [
      "an owner's failed deliveries",
      ['webhook_deliveries_undelivered'],
      (store) =>
        store.listDeliveries({ accountId: 'acme', endpointId: 'whe_1', state: 'failed' }, { limit: 9, after: 'x' }),
    ],
    [
      "an owner's pending deliveries",
      ['webhook_deliveries_undelivered'],
      (store) => store.listDeliveries({ accountId: 'acme', endpointId: 'whe_1', state: 'pending' }, { limit: 9 }),
    ],
    [
      "an owner's deliveries",
      ['webhook_deliveries_by_endpoint'],
      (store) => store.listDeliveries({ accountId: 'acme', endpointId: 'whe_1' }, { limit: 9, after: 'x' }),
    ],
    [
      'the deliveries about a task',
      ['events_by_subject', 'webhook_deliveries_by_event'],
      (store) => store.listDeliveriesAbout('acme', 'task_of_evt_1', 10),
    ],
    ['their attempts', ['autoindex_webhook_attempts_1'], (store) => store.listAttemptsByDelivery(['whd_1', 'whd_2'])],
    [
      'the failed deliveries that are sent again',
      ['webhook_deliveries_undelivered'],
      (store) => store.resendFailed({ accountId: 'acme', endpointId: 'whe_1', since: AT, limit: 100 }, AT),
    ],
    [
      'an endpoint that is disabled',
      ['autoindex_webhook_endpoints_1', 'webhook_deliveries_due'],
      (store) => store.updateEndpoint('acme', 'whe_1', { enabled: false, at: AT }),
    ],
    [
      'an endpoint that is removed',
      ['autoindex_webhook_endpoints_1', 'webhook_deliveries_due'],
      (store) => store.removeEndpoint('acme', 'whe_1', AT),
    ],
    ["an owner's endpoints", ['webhook_endpoints_by_account'], (store) => store.listEndpoints('acme', { limit: 9 })],
    ['the secrets', ['autoindex_webhook_secrets_1'], (store) => store.listSecrets('', 10)],
  ])('%s uses %j for any number of events', async (_what, indexes, call) => {
    const plans = await plansWith(call);

    for (const index of indexes) expect(plans).toContainEqual(expect.stringContaining(index));
    // a subquery has at most as many rows as its limit, and an index of what waits has no others
    const scans = plans.filter((step) => step.startsWith('SCAN ') && !OF_A_SUBQUERY.test(step));
    expect(scans.filter((step) => !OF_WHAT_WAITS.includes(step))).toEqual([]);
  });
});

test('every statement of a batch is found by an index, whatever phase the batch is in', async () => {
  const plans: string[] = [];
  const newId = newIds(fakeClock(AT));
  const batches = sqlBatches(sql, newId);
  const watched = sqlBatches(explained(sql, plans), newId);
  const taking = { now: AT, until: AT + 1000, limit: 9 };
  const lease = { batchId: 'batch_1', lease: 'lease_1' };
  const stop = { outcome: 'cancelled', fault: { code: 'batch_cancelled', message: 'cancelled' } } as const;
  await watched.createBatch(
    {
      ...{ id: 'batch_1', accountId: 'acme', tokenId: 'token_1', requestId: undefined, endpoint: '/v1/videos' },
      ...{ inputFileId: 'file_1', metadata: {}, outputExpiresAfterMs: undefined, maxNanos: undefined },
      ...{ createdAt: AT, expiresAt: AT + 1000, label: undefined },
    },
    9,
  );
  await Promise.all([watched.findBatch('batch_1'), watched.listBatches('acme', { limit: 9 })]);
  await watched.leaseBatches({ ...taking, phase: 'reading', lease: 'lease_1' });
  const fault = { code: 'invalid_request', message: 'no' };
  await watched.appendLines(lease, [{ number: 1, customId: 'a', body: { fault } }], AT);
  await watched.endLateReads(AT + 2000);
  await batches.leaseBatches({ ...taking, now: AT + 2000, phase: 'running', lease: 'lease_1' });
  await watched.listOpenLines('batch_1', 9, 9);
  await watched.startLines(lease, [{ number: 1, nanos: 0n }], AT);
  await watched.recordStarts(lease, [{ number: 1, end: { fault } }], AT);
  await watched.endLines(lease, 9, AT);
  await watched.endUnknown(lease, fault, 9, AT);
  await watched.closePending(lease, stop, 9, AT);
  await watched.closeStarting(lease, stop, { now: AT, until: AT });
  await watched.listQueuedTasks('batch_1', 9);
  await Promise.all([watched.findNextDue('running'), watched.countEnded('acme')]);
  await watched.finishRun(lease, AT);
  await batches.leaseBatches({ ...taking, phase: 'writing', lease: 'lease_1' });
  await watched.listEndedLines(lease, { after: 0, limit: 9, withTask: true, until: AT });
  await watched.listEndedLines(lease, { after: 0, limit: 9, withTask: false, until: AT });
  await watched.finishBatch(lease, {}, AT);
  await watched.removeEndedLines(9);
  await watched.removeOldBatches({ before: AT + 1, limit: 9 });

  expect(plans.length).toBeGreaterThan(30);
  expect(plans.filter((step) => /^SCAN (?!CONSTANT ROW|accounts$)/.test(step))).toEqual([]);
  expect(plans).toContainEqual(expect.stringContaining('batch_lines USING INDEX batch_lines_open'));
});
