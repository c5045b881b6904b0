import type { FoundBug } from './plant-bug.ts';

const PRICE_FACTS = 'services/tasks/src/domain/price-facts.ts';
const CREATE_TASK = 'services/tasks/src/operations/creates/create-task.ts';
const SETTLEMENT = 'services/billing/src/domain/settlement.ts';
const PRICES = 'services/billing/src/operations/prices/prices.ts';
const BALANCES = 'services/billing/src/store/balances/sql-balances.ts';
const HOLD_ENDS = 'services/billing/src/store/holds/sql-end-holds.ts';
const READS = 'services/tasks/src/operations/reads/read-tasks.ts';
const END_TASK = 'services/gateway/src/operations/end-task.ts';
const REMOVALS = 'services/media/src/store/sql-removals.ts';
const RECEIVERS = 'services/tasks/src/store/webhooks/sql-leased-receivers.ts';

const PRICE = 'a completed task is charged the price of its order';

/** Planted bugs that only what a client ordered, or was told, can show. */
export const ORDER_BUGS: Readonly<Record<string, FoundBug>> = {
  'remixes-at-the-whole-price': {
    fault: 'A remix has the price of a generation.',
    edits: [
      {
        file: PRICE_FACTS,
        text: `regeneration: (model) => \`\${model}__regeneration\`,`,
        becomes: 'regeneration: (model) => model,',
      },
    ],
    first: 1,
    seeds: 20,
    rules: [PRICE],
  },
  'lost-labels': {
    fault: 'A task does not keep the label of its order.',
    edits: [{ file: CREATE_TASK, text: '...takeAnnotations(beside)', becomes: 'label: undefined' }],
    first: 1,
    seeds: 20,
    rules: ['a task keeps the label of its order'],
  },
  'prices-of-today': {
    fault: 'A settlement uses the first version of its price, and not the one that its hold has frozen.',
    edits: [
      {
        file: HOLD_ENDS,
        text: 'termsOf(query, record.hold.facts.priceKey, record.hold.priceVersion)',
        becomes: 'termsOf(query, record.hold.facts.priceKey, 1)',
      },
    ],
    first: 1,
    seeds: 20,
    rules: [PRICE],
  },
  'classes-at-the-whole-price': {
    fault: 'The discount of a class is forgotten.',
    edits: [
      {
        file: PRICES,
        text: 'keys.flatMap((key) => [toClassKey(key, priceClass), key]);',
        becomes: 'keys.flatMap((key) => [key, toClassKey(key, priceClass)]);',
      },
    ],
    first: 1,
    seeds: 40,
    rules: [PRICE],
  },
  'free-reference-videos': {
    fault: 'A hold is not extended by the seconds of a reference video.',
    edits: [
      {
        file: CREATE_TASK,
        text: 'if (measured.seconds !== facts.seconds || measured.inputVideoSeconds !== facts.inputVideoSeconds)',
        becomes: 'if (measured.seconds !== facts.seconds && measured.inputVideoSeconds !== facts.inputVideoSeconds)',
      },
    ],
    first: 1,
    seeds: 20,
    rules: [PRICE],
  },
  'charges-above-their-bound': {
    fault: 'Usage above the order is charged above the bound of the client.',
    edits: [
      {
        file: SETTLEMENT,
        text: 'const amount = atMost(wanted, hold.maxAmount);',
        becomes: 'const amount = atMost(wanted, undefined);',
      },
    ],
    first: 1,
    seeds: 40,
    rules: [
      PRICE,
      'a charge is within the bound of its order',
      'every task ends and is settled, or waits for a person',
    ],
  },
  'usage-is-not-read': {
    fault: 'A completed task is charged its estimate, whatever its upstream reports.',
    edits: [
      {
        file: SETTLEMENT,
        text: 'if (used === undefined)\n',
        becomes: 'if (used !== null)\n',
      },
    ],
    first: 1,
    seeds: 20,
    rules: [PRICE, 'usage far above an order is charged only by a person'],
  },
  'overruns-without-a-person': {
    fault: 'Usage far above the order is charged without a person.',
    edits: [
      {
        file: SETTLEMENT,
        text: 'if (!rules.confirmed && isFarAbove)',
        becomes: 'if (rules.confirmed && isFarAbove)',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['usage far above an order is charged only by a person'],
  },
  'makers-without-their-tree': {
    fault: 'The limit of a token bounds only what it orders itself.',
    edits: [
      {
        file: BALANCES,
        text: 'JOIN tokens AS made ON made.made_by_token_id = tree.id',
        becomes: 'JOIN tokens AS made ON made.made_by_token_id = tree.id AND made.id IS NULL',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['the limit of a maker bounds its tree'],
  },
  'foreign-tasks': {
    fault: 'A task is read by every account that knows its id.',
    edits: [
      {
        file: READS,
        text: 'const task = await store.findOwned(accountId, taskId);',
        becomes: 'const task = await store.find(taskId);',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a task of another account is not found', 'a deleted task is not found'],
  },
  'memory-outlives-a-connection': {
    fault: 'A gateway whose connection to the bus broke goes on answering with a deleted task.',
    edits: [
      {
        file: 'services/gateway/src/operations/read-task.ts',
        text: 'connection !== undefined && connection === bus.connection() ? freshMs : FRESH_MS.running',
        becomes: 'freshMs',
      },
    ],
    first: 2000,
    seeds: 2,
    rules: ['a deleted task is not found'],
  },
  'remembered-deletions': {
    fault: 'The process that deletes a task goes on answering with it.',
    edits: [
      {
        file: END_TASK,
        text: 'await tasks.deleteTask({ ...ref }, { timeoutMs: DEADLINE_MS, ...call });\n  } finally {\n    reader.forget(ref);',
        becomes: 'await tasks.deleteTask({ ...ref }, { timeoutMs: DEADLINE_MS, ...call });\n  } finally {',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['a deleted task is not found'],
  },
  'forgotten-receivers': {
    fault: 'A receiver that is leased has no end of its lease, so one whose process dies is never leased again.',
    edits: [
      {
        file: RECEIVERS,
        text: `due_at = \${of('until')}, worker = \${of('worker')}`,
        becomes: `due_at = NULL, worker = \${of('worker')}`,
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['a due delivery is sent'],
  },
  'shared-results-are-removed': {
    fault: 'The removal of a result takes the bytes that other results share.',
    edits: [
      {
        file: REMOVALS,
        text: 'WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL), $2),',
        becomes: 'WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NOT NULL AND o.id IS NULL), $2),',
      },
      {
        file: 'services/media/src/store/sql-media-store.ts',
        text: 'AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)\n        AND sha256 IN',
        becomes: 'AND sha256 IN',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['a completed task keeps its result', 'the result of a completed task can be read'],
  },
};
