import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.join(import.meta.dirname, '../..');
const LITERAL = /`(?<template>(?:[^`\\]|\\.)*)`|'(?<plain>[^'\n]*)'/gs;
const STATEMENT = /^\s*(?:SELECT|UPDATE|DELETE|WITH)\s(?=.*\s(?:FROM|SET)\s)/s;
const KEYS = [
  'id',
  'task_id',
  'account_id',
  'token_id',
  'job_id',
  'owner_id',
  'receiver_id',
  'delivery_id',
  'scope',
  'shard_of',
  'event_key',
  'price_key',
  'key_hash',
  'sha256',
  'storage_key',
];
/** A condition that names one of the keys by which rows are spread. */
const NAMES_KEY = new RegExp(String.raw`\b(?:${KEYS.join('|')})\s*(?:=|IN)`);

/**
 * Files with statements that name no key. Each runs once in a pass of a process or for a command of an operator, never
 * once for a request or a task.
 */
const PASSES: Readonly<Record<string, string>> = {
  'tasks/sql-backlog.ts': 'the metrics of tasks',
  'tasks/sql-changes.ts': 'the pass of the watches of a process, by account where they name one',
  'tasks/sql-creates.ts': 'the unique index of upstream work, which bounds an adoption',
  'tasks/sql-deadlines.ts': 'the pass over deadlines',
  'tasks/sql-job-leases.ts': 'the pass over jobs of dead workers',
  'tasks/sql-job-retention.ts': 'the removal of old jobs',
  'tasks/sql-jobs.ts': 'the metrics of jobs',
  'tasks/sql-list-steps.ts': 'lists that examine a bounded number of tasks, by account where they name one',
  'tasks/sql-leases.ts': 'the pass of a poller, for up to 64 tasks of a channel',
  'tasks/sql-acts.ts': 'the acts of operators, for an operator',
  'tasks/sql-minutes.ts': 'the counts of minutes, for an operator and the pass that removes them',
  'tasks/sql-pauses.ts': 'the pauses of channels, for an operator and the pass that reads them',
  'tasks/sql-processes.ts': 'the heartbeats',
  'tasks/sql-self-checks.ts': 'the checks of the service, for an operator',
  'tasks/sql-reads.ts': 'the settlement pass, the recovery of creates, the list of an operator',
  'tasks/sql-retention.ts': 'the removal of old tasks and keys',
  'tasks/sql-dispatch.ts': 'the dispatch of new events',
  'tasks/sql-events.ts': 'the pass that wakes event streams',
  'tasks/sql-leased-receivers.ts': 'the look for due receivers',
  'tasks/sql-secrets.ts': 'the pass that seals secrets anew',
  'tasks/sql-webhook-backlog.ts': 'the metrics of webhooks',
  'tasks/sql-webhook-retention.ts': 'the removal of old events and deliveries',
  'billing/sql-account-list.ts': 'the list of accounts, for an operator',
  'billing/sql-account-parts.ts': 'the lists and sums of all accounts, for an operator',
  'billing/sql-acts.ts': 'the list of acts, for an operator',
  'billing/sql-call-store.ts': 'the pass over calls that lapse',
  'billing/sql-ledger-audit.ts': 'ledger verify',
  'billing/sql-ledger-checks.ts':
    'the last outcome of ledger verify, and the pass that checks the ledger, a page at a time',
  'billing/sql-low-accounts.ts': 'the pass that counts low accounts, a page at a time',
  'billing/sql-money-store.ts': 'the money of all accounts, for an operator and the metrics',
  'billing/sql-price-store.ts': 'the prices, read at the start and on a change',
  'billing/sql-rebuild.ts': 'ledger rebuild',
  'billing/sql-session-store.ts': 'a sign-out of a console, over a table with a bound, and the list of a gateway',
  'billing/sql-token-store.ts': 'the list of tokens, for an operator',
  'billing/sql-unconfirmed-batches.ts': 'the pass over calls that lapse',
  'media/sql-sweeps.ts': 'the passes over expired objects',
};

interface Statement {
  readonly file: string;
  readonly text: string;
}

const statements: readonly Statement[] = ['tasks', 'billing', 'media'].flatMap((service) =>
  readdirSync(path.join(ROOT, 'services', service, 'src/store'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test)\.ts$/.test(name))
    .flatMap((name) =>
      [...readFileSync(path.join(ROOT, 'services', service, 'src/store', name), 'utf8').matchAll(LITERAL)]
        .map(({ groups }) => groups?.['template'] ?? groups?.['plain'] ?? '')
        .filter((text) => STATEMENT.test(text))
        .map((text) => ({ file: `${service}/${path.basename(name)}`, text: text.replaceAll(/\s+/g, ' ').trim() })),
    ),
);
const keyless = statements.filter(({ text }) => !NAMES_KEY.test(text));

test('a statement of a request names the account, the task or another key by which rows are spread', () => {
  expect(statements.length).toBeGreaterThan(100);
  expect(keyless.filter(({ file }) => !Object.hasOwn(PASSES, file))).toEqual([]);
});

test('every file that is named as one with passes has a statement of a pass', () => {
  const files = new Set(keyless.map(({ file }) => file));

  expect(Object.keys(PASSES).filter((file) => !files.has(file))).toEqual([]);
});
