import type { FoundBug } from './plant-bug.ts';

const RECORDS = 'services/tasks/src/operations/retention/remove-old-records.ts';
const ATTENTION = 'services/tasks/src/operations/attention/resolve-attention.ts';
const KEEP_FILE = 'services/media/src/operations/blobs/keep-file.ts';

const STAYS = 'a record stays for its time';
const GONE = 'a record is gone after its time';
const KEEPS_RESULT = 'a completed task keeps its result';

/** Planted bugs in what a program does beside its orders: it removes old records, carries out decisions, stores results. */
export const LATE_BUGS: Readonly<Record<string, FoundBug>> = {
  'results-of-six-days': {
    fault: 'A result is kept for a day less than its setting says.',
    edits: [
      {
        file: 'services/media/src/operations/results/ingest-result.ts',
        text: 'const { lifetimeMs } = deps.results;',
        becomes: 'const lifetimeMs = deps.results.lifetimeMs - 86_400_000;',
      },
    ],
    first: 1000,
    seeds: 20,
    rules: [STAYS],
  },
  'old-tasks-stay': {
    fault: 'Finished tasks are kept for twice their time.',
    edits: [
      {
        file: RECORDS,
        text: 'store.removeFinished({ before: now - retentionMs, now,',
        becomes: 'store.removeFinished({ before: now - 2 * retentionMs, now,',
      },
    ],
    first: 1000,
    seeds: 60,
    rules: [GONE],
  },
  'old-batches-stay': {
    fault: 'Ended batches are kept for twice their time.',
    edits: [
      {
        file: RECORDS,
        text: 'batches.removeOldBatches({ before: clock.now() - limits.retentionMs,',
        becomes: 'batches.removeOldBatches({ before: clock.now() - 2 * limits.retentionMs,',
      },
    ],
    first: 1000,
    seeds: 30,
    rules: [GONE],
  },
  'keys-of-half-a-day': {
    fault: 'A key is free again after twelve hours.',
    edits: [
      {
        file: 'services/tasks/src/operations/creates/idempotency.ts',
        text: 'export const KEY_LIFETIME_MS = 24 * 3600 * 1000;',
        becomes: 'export const KEY_LIFETIME_MS = 12 * 3600 * 1000;',
      },
    ],
    first: 1000,
    seeds: 40,
    rules: ['a key makes one task', 'an order is accepted at most once'],
  },
  'keys-of-two-days': {
    fault: 'A key belongs to its task for two days.',
    edits: [
      {
        file: 'services/tasks/src/operations/creates/idempotency.ts',
        text: 'export const KEY_LIFETIME_MS = 24 * 3600 * 1000;',
        becomes: 'export const KEY_LIFETIME_MS = 48 * 3600 * 1000;',
      },
    ],
    first: 1000,
    seeds: 40,
    rules: ['a key is free after its time'],
  },
  'decisions-that-end-nothing': {
    fault: 'A person gives a task up, and it goes on.',
    edits: [
      {
        file: ATTENTION,
        text: "endTask(deps, task, { state: 'failed', at: deps.clock.now(), failure: BY_OPERATOR, causedBy: 'us', decision }),",
        becomes: 'deps.store.resolve(task.id, { ...decision, at: deps.clock.now() }),',
      },
    ],
    first: 1000,
    seeds: 20,
    rules: ['a decision ends its task'],
  },
  'given-up-work-is-charged': {
    fault: 'A person decides that a finished task costs nothing, and it is charged.',
    edits: [
      {
        file: ATTENTION,
        text: 'const settled = await deps.billing.releaseHold(task.id, describeWork(task));',
        becomes: `const settled: string = await deps.billing.settle(task.id, task.usage, { confirmed: true, ...describeWork(task) });
    if (settled !== '') return;`,
      },
    ],
    first: 1000,
    seeds: 40,
    rules: ['a decision moves the money of its task'],
  },
  'failed-writes-are-kept': {
    fault: 'A result whose bytes could not be written counts as stored.',
    edits: [
      {
        file: KEEP_FILE,
        text: 'if (blob.key === pin) await deps.blobs.keep(pin, file);',
        becomes: 'if (blob.key === pin) await deps.blobs.keep(pin, file).catch(() => undefined);',
      },
    ],
    first: 1000,
    seeds: 20,
    rules: [KEEPS_RESULT, 'the result of a completed task can be read'],
  },
  'pauses-that-stay': {
    fault: 'A pause of a channel does not end at its time.',
    edits: [
      {
        file: 'services/tasks/src/operations/operators/pause-channel.ts',
        text: 'if (!paused.isAnyOver()) return;',
        becomes: 'if (!paused.isAnyOver() || clock.now() > 0) return;',
      },
    ],
    first: 1000,
    seeds: 40,
    rules: ['a pause ends at its time'],
  },
  'keys-by-their-beginning': {
    fault: 'A gateway knows a token by the first characters of its key.',
    edits: [
      {
        file: 'services/gateway/src/operations/principals.ts',
        text: "hash('sha256', key, 'base64')",
        becomes: "hash('sha256', key.slice(0, 19), 'base64')",
      },
    ],
    first: 1000,
    seeds: 20,
    rules: ['a wrong key is refused'],
  },
  'hours-of-one-charge': {
    fault: 'The usage of an hour is that of its last charge.',
    edits: [
      {
        file: 'services/billing/src/store/usage/sql-usage-hours.ts',
        text: `\${column} = \${table}.\${column} + excluded.\${column}`,
        becomes: `\${column} = excluded.\${column}`,
      },
    ],
    first: 1000,
    seeds: 20,
    rules: ['the sums of accounts and tokens are right', 'the ledger verifies'],
  },
};
