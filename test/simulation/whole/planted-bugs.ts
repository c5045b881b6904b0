import { BODY_BUGS } from './body-bugs.ts';
import { GATEWAY_BUGS } from './gateway-bugs.ts';
import { ORDER_BUGS } from './order-bugs.ts';
import { HIDDEN_BUGS } from './hidden-bugs.ts';
import { LATE_BUGS } from './late-bugs.ts';
import { LEASE_BUGS } from './lease-bugs.ts';
import { OVERLAP_BUGS } from './overlap-bugs.ts';
import { RPC_BUGS } from './rpc-bugs.ts';
import type { FoundBug, PlantedBug, SourceEdit } from './plant-bug.ts';

const SQLITE = 'services/platform/src/sql/sqlite.ts';
const CREATE_TASK = 'services/tasks/src/operations/creates/create-task.ts';
const SUBMIT_ATTEMPTS = 'services/tasks/src/operations/attempts/submit-attempts.ts';
const RECOVER_CREATES = 'services/tasks/src/operations/recovery/recover-creates.ts';
const CREATES = 'services/tasks/src/store/tasks/sql-creates.ts';
const MOVES = 'services/tasks/src/store/tasks/sql-moves.ts';
const QUEUE = 'services/tasks/src/store/tasks/sql-queue.ts';
const ADMISSION = 'services/tasks/src/store/tasks/sql-admission.ts';
const SETTLE_FINISHED = 'services/tasks/src/workers/settle-finished.ts';
const HOLDS = 'services/billing/src/store/holds/sql-hold-store.ts';
const HOLD_ENDS = 'services/billing/src/store/holds/sql-end-holds.ts';

const ONE = 'an order is accepted at most once';
const OWN = 'every accepted work belongs to one task';
const REST = 'every task ends and is settled, or waits for a person';

const DROP_EVENT: SourceEdit = {
  file: MOVES,
  text: 'buildStagedEvent({ id: taskId, ...finishedEvent(task, finish), carrier: finish.trace }, finish.at),',
  becomes: '',
};

/** The planted bugs that are found, by the names that `--bug` takes. */
export const FOUND_BUGS: Readonly<Record<string, FoundBug>> = {
  'unsynced-commits': {
    fault: 'A transaction succeeds before the disk has it.',
    edits: [
      {
        file: SQLITE,
        text: 'await synced?.catch(throwUnsynced(true));',
        becomes: 'void synced?.catch(() => undefined);',
      },
    ],
    first: 1,
    seeds: 60,
    rules: [
      'a submission has a stored attempt',
      'no task is lost',
      'a call that must not be repeated is made once',
      ONE,
      OWN,
    ],
  },
  'rows-before-their-sync': {
    fault: 'An order is submitted while the row of its task is on its way to the disk.',
    edits: [
      {
        file: 'services/tasks/src/store/tasks/sql-permits.ts',
        text: 'await sql.transaction(async (query) => {',
        becomes: 'await sql.commitAhead(async (query) => {',
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a submission has a stored attempt', ONE, OWN, 'a hold has its task'],
  },
  'attempts-beside-their-request': {
    fault: 'The second attempt of a create is written beside its request and not before it.',
    edits: [
      {
        file: SUBMIT_ATTEMPTS,
        text: 'if (!(await deps.store.startAttempt(taskId, started))) {',
        becomes: `void deps.clock.sleep(80).then(() => deps.store.startAttempt(taskId, started)).catch(() => undefined);
  if (number < 0) {`,
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a submission has a stored attempt', ONE, OWN],
  },
  'lost-answers-are-refusals': {
    fault: 'A lost answer counts as an order that was never sent, so the next channel gets the order too.',
    edits: [
      {
        file: 'services/tasks/src/channels/upstream-http.ts',
        text: "kind: wasSent ? 'lost' : 'unreachable'",
        becomes: "kind: wasSent ? 'unreachable' : 'unreachable'",
      },
    ],
    first: 1,
    seeds: 60,
    rules: [ONE, OWN],
  },
  'lost-answers-are-asked-again': {
    fault: 'An order whose answer was lost is sent to the same upstream again.',
    edits: [
      {
        file: SUBMIT_ATTEMPTS,
        text: 'return await channel.submit(attempt, signal);',
        becomes: `const first = await channel.submit(attempt, signal);
    return first.outcome === 'unknown' ? await channel.submit(attempt, signal) : first;`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, OWN],
  },
  'throttled-orders-are-sent-later': {
    fault: 'An order that an upstream throttles goes to the next channel, and to the first one again after its wait.',
    edits: [
      {
        file: SUBMIT_ATTEMPTS,
        text: 'const ms = deps.clock.now() - begunAt;',
        becomes: `const ms = deps.clock.now() - begunAt;
    if (submission.outcome === 'refused' && submission.fault === 'throttle')
      void deps.clock.sleep(1000).then(() => channel.submit(planned, signal));`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, OWN],
  },
  'recovery-refuses-started-creates': {
    fault: 'A restart refuses a create whose attempt had started, so its client orders again.',
    edits: [
      {
        file: RECOVER_CREATES,
        text: "if (started === undefined || (task.admission === 'submitting' && (await hadNoHold(task.id)))) {",
        becomes: 'if (started === undefined || started.number > 0 || (await hadNoHold(task.id))) {',
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, OWN],
  },
  'recovery-returns-claimed-tasks': {
    fault: 'A restart returns a task to the queue although its turn had begun, so it is sent again.',
    edits: [
      {
        file: RECOVER_CREATES,
        text: "if (started === undefined && task.admission === 'waiting') {",
        becomes: "if (task.admission === 'waiting') {",
      },
    ],
    first: 1,
    seeds: 60,
    rules: [ONE, OWN],
  },
  'waiting-tasks-stay-counted': {
    fault: 'A task that waits for a channel stays in the counters of its create.',
    edits: [
      {
        file: QUEUE,
        text: 'leaveCounters(query, taskId, row);\n          return TASK.read(row);',
        becomes: 'return TASK.read(row);',
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a counter counts the tasks in it'],
  },
  'any-fitting-work-is-adopted': {
    fault: 'A task whose answer was lost takes the first work that fits, although another task could own it.',
    edits: [
      {
        file: 'services/tasks/src/operations/recovery/reconcile-unknown.ts',
        text: 'const only = fitting.length === 1 && fitting[0]?.[1].size === 1 ? fitting[0][0] : undefined;',
        becomes: 'const only = fitting[0]?.[0];',
      },
    ],
    first: 1,
    seeds: 80,
    rules: ['a task has the work of its own order', OWN, ONE],
  },
  'dropped-events': {
    fault: 'The event of the end of a task reaches billing never. Only the sweep settles.',
    edits: [DROP_EVENT],
    first: 6,
    seeds: 1,
    // the sweep repairs it, so only the bound on time of a seed without faults shows it
    rules: ['without faults a task is settled within 3000 ms of its end'],
  },
  'dropped-events-and-a-blind-sweep': {
    fault: 'No event of the end of a task is staged, and the sweep marks as settled what it could not settle.',
    edits: [
      DROP_EVENT,
      {
        file: SETTLE_FINISHED,
        text: 'return false;\n  }\n}\n\nfunction settleBackoff',
        becomes: 'return true;\n  }\n}\n\nfunction settleBackoff',
      },
    ],
    first: 1,
    seeds: 60,
    rules: [
      'no hold stays open after the end of its task',
      'a completed task is charged the price of its order',
      'without faults a task is settled within 3000 ms of its end',
    ],
  },
  'sweep-trusts-the-event': {
    fault: 'The sweep marks a finished task as settled without asking billing.',
    edits: [
      {
        file: SETTLE_FINISHED,
        text: 'await inWorkSpan(deps, traced, CONFIRM, (span) => settleTask(deps, task, span));',
        becomes: 'await inWorkSpan(deps, traced, CONFIRM, async () => undefined);',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['no hold stays open after the end of its task', 'a completed task is charged the price of its order'],
  },
  'settled-without-a-check': {
    fault: 'A settlement does not look at the state of its hold, and its key is not unique.',
    edits: [
      {
        file: HOLD_ENDS,
        text: "if (record?.state !== 'open') {",
        becomes: 'if (record?.hold === undefined) {',
      },
      {
        file: HOLDS,
        text: "if (known !== undefined && known.state !== 'open') return",
        becomes: "if (known?.state === 'void') return",
      },
      {
        file: 'services/billing/src/domain/ledger.ts',
        text: `key: \`\${kind}:\${hold.taskId}\`,`,
        becomes: `key: kind === 'hold' ? \`\${kind}:\${hold.taskId}\` : \`\${kind}:\${hold.taskId}:\${at}\`,`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a hold ends once', 'the held amount is that of the open holds'],
  },
  'open-holds': {
    fault: 'The release of a hold moves the money, and leaves the hold open.',
    edits: [
      { file: HOLD_ENDS, text: "UPDATE holds SET state = 'released'", becomes: "UPDATE holds SET state = 'open'" },
    ],
    first: 1,
    seeds: 10,
    rules: ['the held amount is that of the open holds'],
  },
  'no-hold-for-keys': {
    fault: 'An order with a key is submitted without a hold.',
    edits: [
      {
        file: CREATE_TASK,
        text: "const { contract } = await placeHold(deps, create);\n    step = 'stage';",
        becomes:
          "const contract = create.facts.priceKey;\n    if (create.task.idempotency === undefined) await placeHold(deps, create);\n    step = 'stage';",
      },
    ],
    first: 1,
    seeds: 10,
    rules: [
      'a completed task is charged the price of its order',
      ONE,
      OWN,
      'an order above its bound is not submitted',
    ],
  },
  'refused-creates-keep-their-hold': {
    fault: 'The hold of a create that no upstream accepted stays open.',
    edits: [
      {
        file: CREATE_TASK,
        text: 'if (isHeld) await releaseRefused(deps, task, span);',
        becomes: 'if (isHeld) await Promise.resolve();',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['no hold stays open after the end of its task'],
  },
  'failures-are-charged': {
    fault: 'A failed task is charged like a completed one.',
    edits: [
      {
        file: 'services/billing/src/events/on-task-finished.ts',
        text: 'else if (state === TaskState.COMPLETED) await settleCompletedTask',
        becomes: 'else if (state !== undefined) await settleCompletedTask',
      },
      {
        file: 'services/billing/src/events/on-task-finished.ts',
        text: 'if (state === TaskState.FAILED)',
        becomes: 'if (state === undefined)',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a failed task is charged nothing'],
  },
  'a-billionth-is-lost': {
    fault: 'A charge takes a billionth too little from the balance of its account.',
    edits: [
      {
        file: HOLD_ENDS,
        text: '{ balance: -charged(group), held: -held(group) }',
        becomes: '{ balance: 1n - charged(group), held: -held(group) }',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['the ledger verifies'],
  },
  'forgotten-keys': {
    fault: 'A key is forgotten as soon as its task is written.',
    edits: [
      {
        file: 'services/tasks/src/operations/creates/idempotency.ts',
        text: 'KEY_LIFETIME_MS = 24 * 3600 * 1000;',
        becomes: 'KEY_LIFETIME_MS = 1;',
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, 'a key makes one task', OWN],
  },
  'stolen-keys': {
    fault: 'Of two creates with one key at the same moment, the second takes the key from the first.',
    edits: [
      {
        file: ADMISSION,
        text: 'WHERE idempotency_keys.expires_at <= $1`',
        becomes: 'WHERE $1 > 0`',
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, 'a key makes one task', OWN],
  },
  'tasks-end-twice': {
    fault: 'The statement that ends a task has no condition on its state.',
    edits: [
      {
        file: MOVES,
        text: `WHERE id = \${of('taskId')} AND \${UNFINISHED} AND \${ADMITTED}`,
        becomes: `WHERE id = \${of('taskId')} AND \${ADMITTED}`,
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a task ends once', 'an event has one id', 'a final state never changes', 'a hold ends once'],
  },
  'unconfirmed-cancels': {
    fault: 'A cancel ends its task whatever the upstream says.',
    edits: [
      {
        file: 'services/tasks/src/operations/ends/cancel-task.ts',
        text: 'if (!(await isCancelled(deps, task, signal))) {',
        becomes: 'if (!(await isCancelled(deps, task, signal)) && task.id === accountId) {',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a failed task has no work that succeeds'],
  },
  'failures-stay-counted': {
    fault: 'A task that fails stays in the counters of tasks in flight.',
    edits: [
      {
        file: MOVES,
        text: 'leaveCounters(query, taskId, row);',
        becomes: "if (finish.state === 'completed') leaveCounters(query, taskId, row);",
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a finished task is in no counter'],
  },
  'counters-are-not-given-back': {
    fault: 'A refused create leaves the list of its counters, and they go on counting it.',
    edits: [
      {
        file: CREATES,
        text: "await note(query, taskId, at, { type: 'refused', detail: { ...failure } });\n        leaveCounters(query, taskId, row);",
        becomes: `await note(query, taskId, at, { type: 'refused', detail: { ...failure } });
        await query("UPDATE tasks SET in_flight_json = '[]' WHERE id = $1", [taskId]);`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a counter counts the tasks in it'],
  },
  'leases-outlive-their-process': {
    fault: 'The leases of a dead process stay, so its tasks are not polled for a quarter of an hour.',
    edits: [
      {
        file: 'services/tasks/src/workers/process-liveness.ts',
        text: 'await deps.store.dropLeases(id);',
        becomes: '',
      },
    ],
    first: 1,
    seeds: 30,
    rules: [REST],
  },
  'unknown-ids-are-failures': {
    fault: 'A task fails at the first poll whose answer says that its work is not known.',
    edits: [
      {
        file: 'services/tasks/src/workers/poll-channel.ts',
        text: "else if (polled.gone) await postponePoll(deps, task, { error: UNKNOWN_TASK, doubt: 'unknown_upstream_task' });",
        becomes: `else if (polled.gone)
      await applyReport(deps, task, { phase: 'failed', status: 'gone', failure: { code: 'gone', message: 'gone' } });`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a failed task has no work that succeeds'],
  },
  'another-body-under-a-key': {
    fault: 'A key with another body is answered with the task of the first one.',
    edits: [
      {
        file: 'services/tasks/src/operations/creates/admit-create.ts',
        text: 'if (record.fingerprint !== idempotency.fingerprint) throw keyReused();',
        becomes: '',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a key with another body is refused'],
  },
  'overdrawn-accounts': {
    fault: 'A hold is placed whatever the balance of its account.',
    edits: [
      {
        file: 'services/billing/src/store/balances/sql-balances.ts',
        text: 'WHERE id = $2 AND balance_nanos - held_nanos >= $1 RETURNING',
        becomes: 'WHERE id = $2 RETURNING',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['no account is overdrawn'],
  },
  'ends-without-an-event': {
    fault: 'The end of a task writes no event for its webhooks.',
    edits: [{ file: MOVES, text: 'writeEvent.build({', becomes: '...Object.keys({}, {' }],
    first: 1,
    seeds: 10,
    rules: ['the end of a task with a webhook has a delivery'],
  },
  ...GATEWAY_BUGS,
  ...LEASE_BUGS,
  ...ORDER_BUGS,
  ...OVERLAP_BUGS,
  ...RPC_BUGS,
  ...LATE_BUGS,
  ...BODY_BUGS,
};

export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = { ...FOUND_BUGS, ...HIDDEN_BUGS };
