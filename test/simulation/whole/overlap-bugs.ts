import type { FoundBug, HiddenBug } from './plant-bug.ts';

const MOVES = 'services/tasks/src/store/tasks/sql-moves.ts';
const QUEUE = 'services/tasks/src/store/tasks/sql-queue.ts';
const ADMISSION = 'services/tasks/src/store/tasks/sql-admission.ts';
const PERMITS = 'services/tasks/src/store/tasks/sql-permits.ts';
const JOBS = 'services/tasks/src/store/jobs/sql-jobs.ts';
const EVENTS = 'services/tasks/src/store/webhooks/sql-events.ts';
const BALANCES = 'services/billing/src/store/balances/sql-balances.ts';

const ONE = 'an order is accepted at most once';
const OWN = 'every accepted work belongs to one task';

/** Planted bugs that show only while two transactions are under way at once. */
export const OVERLAP_BUGS: Readonly<Record<string, FoundBug>> = {
  'counters-are-read-before-their-lock': {
    fault: 'The permits of a counter are dealt out anew from a count that was read before its lock.',
    edits: [
      {
        file: PERMITS,
        text: 'const [counter] = await query(LOCK_COUNTER, [permit.scope]);',
        becomes: `const [counter] = await query('SELECT count FROM in_flight WHERE scope = $1', [permit.scope]);
  await query(LOCK_COUNTER, [permit.scope]);`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a counter counts the tasks in it'],
  },
  'used-amounts-are-read-and-written': {
    fault: 'A hold reads the used amount of its token, and writes the sum.',
    edits: [
      {
        file: BALANCES,
        text: `SET used_nanos = used_nanos + $1
  WHERE id = $2 AND account_id = $3`,
        becomes: `SET used_nanos = $4 + $1
  WHERE id = $2 AND account_id = $3`,
      },
      {
        file: BALANCES,
        text: '(RESERVE_OF_TOKEN, [amount, tokenId, accountId]);',
        becomes: `(RESERVE_OF_TOKEN, [
    amount,
    tokenId,
    accountId,
    (await query('SELECT used_nanos FROM tokens WHERE id = $1', [tokenId]))[0]?.['used_nanos'] ?? 0,
  ]);`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['the ledger verifies'],
  },
  'holds-end-without-their-lock': {
    fault: 'Two transactions end a hold that neither has locked, and the keys of their events differ.',
    edits: [
      {
        file: 'services/billing/src/store/holds/hold-rows.ts',
        text: `ORDER BY task_id \${forUpdate}\``,
        becomes: 'ORDER BY task_id`',
      },
      {
        file: 'services/billing/src/domain/ledger.ts',
        text: `key: \`\${kind}:\${hold.taskId}\`,`,
        becomes: `key: kind === 'hold' ? \`\${kind}:\${hold.taskId}\` : \`\${kind}:\${hold.taskId}:\${at}\`,`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a hold ends once', 'the held amount is that of the open holds', 'the ledger verifies'],
  },
  'keys-are-looked-up-before-they-are-taken': {
    fault: 'A create reads that its key is free, and then takes it without that condition.',
    edits: [
      {
        file: ADMISSION,
        text: 'WHERE idempotency_keys.expires_at <= $1`',
        becomes: 'WHERE $1 > 0`',
      },
      {
        file: ADMISSION,
        text: 'const taken = await Promise.all(',
        becomes: `const FIND = 'SELECT key FROM idempotency_keys WHERE account_id = $1 AND key = $2 AND expires_at > $3';
  for (const { owner, idempotency } of claims)
    if ((await query(FIND, [owner.accountId, idempotency.key, from])).length > 0) return false;
  const taken = await Promise.all(`,
      },
    ],
    first: 1,
    seeds: 10,
    rules: [ONE, 'a key makes one task', OWN],
  },
};

/** Those of them that no seed shows. */
export const HIDDEN_OVERLAP_BUGS: Readonly<Record<string, HiddenBug>> = {
  'ends-are-checked-a-statement-before': {
    fault: 'A transaction reads that a task has not ended, and then ends it without that condition.',
    edits: [
      {
        file: MOVES,
        text: 'const [[row], waiting] = await Promise.all([',
        becomes: `if ((await query(\`SELECT id FROM tasks WHERE id = $1 AND \${UNFINISHED}\`, [taskId])).length === 0)
      return undefined;
    const [[row], waiting] = await Promise.all([`,
      },
      {
        file: MOVES,
        text: `WHERE id = \${of('taskId')} AND \${UNFINISHED} AND \${ADMITTED}`,
        becomes: `WHERE id = \${of('taskId')} AND \${ADMITTED}`,
      },
    ],
    missing:
      'two ends of one task within the time of one transaction: none of 27 seeds with several processes had them',
  },
  'balances-are-read-before-they-are-held': {
    fault:
      'A transaction reads that a balance covers a hold before it locks any row, and then places the hold whatever it is.',
    edits: [
      {
        file: BALANCES,
        text: 'WHERE id = $2 AND balance_nanos - held_nanos >= $1 RETURNING',
        becomes: 'WHERE id = $2 RETURNING',
      },
      {
        file: BALANCES,
        text: 'const [reserved] = await query<ReservedOfToken>(RESERVE_OF_TOKEN, [amount, tokenId, accountId]);',
        becomes: `const COVERED = 'SELECT id FROM accounts WHERE id = $2 AND balance_nanos - held_nanos >= $1';
  if ((await query(COVERED, [amount, accountId])).length === 0) return undefined;
  const [reserved] = await query<ReservedOfToken>(RESERVE_OF_TOKEN, [amount, tokenId, accountId]);`,
      },
    ],
    missing: 'an account with little credit and several tokens, whose holds do not wait for the row of one token first',
  },
  'places-are-claimed-without-a-lock': {
    fault:
      'Two processes claim the same place in the queue: neither its account is locked nor its claim looked at again.',
    edits: [
      {
        file: QUEUE,
        text: `ORDER BY used, account_id LIMIT 1 \${sql.skipLocked}\``,
        becomes: 'ORDER BY used, account_id LIMIT 1`',
      },
      {
        file: QUEUE,
        text: 'UPDATE waiting SET claimed = 1 WHERE claimed = 0 AND task_id = (',
        becomes: 'UPDATE waiting SET claimed = 1 WHERE task_id = (',
      },
    ],
    missing: 'nothing: the start of a claimed task looks at its row once more, and undoes the second claim',
  },
  'jobs-are-leased-without-a-lock': {
    fault: 'Two workers lease the same queued call, and each starts it without a check of the lease.',
    edits: [
      {
        file: JOBS,
        text: `WHERE id IN (\${buildNextJobs(of)} \${sql.skipLocked}) AND due_at IS NOT NULL RETURNING`,
        becomes: `WHERE id IN (\${buildNextJobs(of)}) RETURNING`,
      },
      {
        file: JOBS,
        text: "WHERE id = $2 AND lease = $3 AND lease_until > $1 AND state = 'queued' RETURNING worker",
        becomes: "WHERE id = $2 AND $3 <> '' AND lease_until > $1 RETURNING worker",
      },
    ],
    missing:
      'more queued calls that two workers look for at one moment: none of 27 seeds with several processes had them',
  },
  'events-are-numbered-without-a-lock': {
    fault: 'Two processes number new events at once.',
    edits: [
      {
        file: EVENTS,
        text: "'UPDATE event_sequence SET last = last WHERE id = $1'",
        becomes: "'SELECT last FROM event_sequence WHERE id = $1'",
      },
    ],
    missing: 'subqueries that see what was committed at the start of their statement, also after a wait',
  },
};
