import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.join(import.meta.dirname, '../..');
const LITERAL = /`(?<template>(?:[^`\\]|\\.)*)`|'(?<plain>[^'\n]*)'/gs;
/** A whole statement, the text of a SELECT after its FROM, or the condition of a removal. */
const STATEMENT = new RegExp(
  [
    String.raw`^\s*\(?(?:SELECT|UPDATE|DELETE|WITH)\s(?=.*\s(?:FROM|SET)\s)`,
    String.raw`^\s*(?:\w+|\$\{\w+\.table\})\s+(?:\$\{\w+\}\s+)?(?:WHERE|JOIN|ORDER BY)\s`,
    String.raw`^\w+ <=? \$1 ORDER BY\s`,
  ].join('|'),
  's',
);
const KEYS = [
  'id',
  'task_id',
  'batch_id',
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
 * The number of statements in a file that name no key, and their purpose. Each runs once in a pass of a process or for a
 * command of an operator, never once for a request or a task.
 */
const PASSES: Readonly<Record<string, readonly [statements: number, reason: string]>> = {
  'tasks/columns.ts': [5, 'the forms of statements: their callers name the tables and the conditions'],
  'tasks/sql-backlog.ts': [9, 'the metrics of tasks, and what channels took before a start'],
  'tasks/sql-batches.ts': [
    8,
    'the passes that lease due batches, end late reads and remove old ones and lines, the end of leases at a start, metrics',
  ],
  'tasks/sql-creates.ts': [1, 'the unique index of upstream work, which bounds an adoption'],
  'tasks/sql-jobs.ts': [6, 'the metrics of jobs, and the first due job'],
  'tasks/sql-acts.ts': [2, 'the acts of operators, for an operator, and the removal of old ones'],
  'tasks/sql-hand-over.ts': [
    6,
    'what happened since a time, how far an operator has read, and the notes on a subject, for an operator',
  ],
  'tasks/sql-search.ts': [2, 'a search of an operator'],
  'tasks/sql-flows.ts': [
    2,
    'the least account of a lane, read when an account begins to wait, and each hour the flows of empty lanes',
  ],
  'tasks/sql-queue.ts': [1, 'the turns of tasks that wait: the next one of a lane'],
  'tasks/sql-queue-reads.ts': [4, 'the lanes, the tasks whose time has come, and the bound of all that wait'],
  'tasks/sql-queue-operators.ts': [
    5,
    'the lanes and accounts of the queue and the rules of operators over them, for an operator, and the end of weights',
  ],
  'tasks/sql-reads.ts': [8, 'the settlement pass and its next due moment, the recovery of creates'],
  'tasks/sql-list-steps.ts': [3, 'the list and the search of an operator'],
  'tasks/sql-prompts.ts': [2, 'the pass that reads prompts, along new and old tasks and the events of ends'],
  'tasks/sql-events.ts': [2, 'the pass that wakes event streams'],
  'tasks/sql-leased-receivers.ts': [4, 'the look for due receivers, and the first due one'],
  'billing/read-opening-accounts.ts': [1, 'account export, a page at a time'],
  'billing/account-rows.ts': [1, 'the lists and sums of all accounts, for an operator'],
  'billing/sql-account-store.ts': [1, 'the list of accounts, for an operator'],
  'billing/sql-acts.ts': [4, 'the list of acts, for an operator'],
  'billing/sql-call-store.ts': [2, 'the pass over calls that lapse'],
  'billing/sql-ledger-audit.ts': [9, 'ledger verify and ledger rebuild'],
  'billing/sql-ledger-checks.ts': [
    4,
    'the last outcome of ledger verify, and the pass that checks the ledger, a page at a time',
  ],
  'billing/sql-low-accounts.ts': [2, 'the pass that counts low accounts, a page at a time'],
  'billing/sql-money-store.ts': [5, 'the money and the margins of all accounts, for an operator and the metrics'],
  'billing/sql-price-store.ts': [1, 'the prices, read at the start and on a change'],
  'billing/sql-session-store.ts': [2, 'a sign-out of a console, over a table with a bound, and the list of a gateway'],
  'billing/sql-token-store.ts': [1, 'the list of tokens, for an operator'],
  'media/sql-media-store.ts': [3, 'the passes over expired objects'],
  'tasks/sql-operators.ts': [
    10,
    'the pauses, waits, calls, failures and counts of minutes, for an operator, a start and the passes over them',
  ],
  'tasks/sql-moves.ts': [3, 'the pass of a poller, for up to 64 tasks of a channel, and its next due moment'],
  'tasks/sql-sweeps.ts': [5, 'the passes over deadlines, old tasks, keys, heartbeats and lost work'],
  'tasks/sql-endpoints.ts': [1, 'the pass that seals secrets anew'],
  'tasks/sql-webhooks.ts': [
    6,
    'the removal of old events and deliveries, the dispatch of new events, and their metrics',
  ],
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

test('no file has more or fewer of them than it is known to have', () => {
  const counts = Object.fromEntries(
    [...Map.groupBy(keyless, ({ file }) => file)].map(([file, found]) => [file, found.length]),
  );

  expect(counts).toEqual(Object.fromEntries(Object.entries(PASSES).map(([file, [count]]) => [file, count])));
});
