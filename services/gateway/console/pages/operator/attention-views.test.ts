import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Resolution } from './parts/attention-rows.ts';
import type { OperatorTaskView } from '../../api/operator-tasks.ts';
import { aTaskMoney, aTaskView, usd } from '../../testing/a-task.ts';
import type { AttentionRow, DecidedMoney } from './parts/attention-rows.ts';
import { confirmBatchText, nameCause, sumDecisions, sumText } from './parts/consequence.ts';
import { BatchResults } from './parts/batch-results.tsx';
import { describeDecision } from './parts/attention-item.tsx';
import { TaskEvidence, compareQuantities } from './parts/evidence.tsx';
import { findNext } from './parts/use-desk.ts';
import { listRest } from './parts/use-batch.ts';
import type { BatchResult, BatchRun } from './parts/use-batch.ts';
import { clockText } from '../../parts/time.tsx';

const text = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1');

const row = (over: Partial<AttentionRow> = {}): AttentionRow => ({
  id: 'task_1',
  isJob: false,
  since: 1000,
  reason: 'overrun',
  detail: 'usage far above the hold',
  accountId: 'demo',
  model: 'Alpha-H3',
  channel: 'east',
  state: 'completed',
  held: usd('0.4'),
  decisions: [
    { resolution: 'completed', charge: usd('40'), release: usd('0') },
    { resolution: 'failed', charge: usd('0'), release: usd('0.4') },
    { resolution: 'retry', refusedBecause: 'the usage is still far above the hold' },
  ],
  ...over,
});

function operatorView(over: Partial<OperatorTaskView> = {}): OperatorTaskView {
  const { task, timeline, deliveries, unavailable, raw, now } = aTaskView();
  return {
    ...{ timeline, deliveries, unavailable, raw, now },
    task: {
      ...task,
      accountId: 'demo',
    },
    record: {
      ...{ tokenId: 'tok_1', admission: 'accepted', channel: 'east', upstreamId: 'up-7', upstreamStatus: 'Success' },
      ...{ attempts: [], events: [], pollErrors: 0, requestId: '', traceId: '' },
    },
    money: aTaskMoney(),
    isInAttention: true,
    ...over,
  };
}

describe('an overrun', () => {
  const usage = { totalSeconds: 500, outputSeconds: 500, totalTokens: 10_000_000 };
  const shown = (over: Partial<OperatorTaskView> = {}): string =>
    renderToString(h(TaskEvidence, { view: operatorView({ usage, ...over }), row: row() }));

  test('has what was ordered and held beside what was reported and what that costs, with units', () => {
    expect(compareQuantities(operatorView({ usage }), row())).toEqual([
      { name: 'Seconds', ordered: '5 s', reported: '500 s' },
      { name: 'of them output', ordered: '5 s', reported: '500 s' },
      { name: 'Images', ordered: '1', reported: '–' },
      { name: 'Tokens in all', ordered: '–', reported: '10,000,000' },
      { name: 'Price', ordered: '$0.40 held', reported: '$40.00, 100 times the hold' },
    ]);
  });

  test('has the prompt as text beside it, with the media and the settings of the order', () => {
    expect(shown()).toContain('a &lt;b>boat&lt;/b>');
    expect(text(shown())).toContain('Generation · Alpha-H3 · 5 s · 768P · 16:9');
    expect(text(shown())).toMatch(/first frame .* seed 7/);
  });

  test('folds a long prompt, and says how long it is', () => {
    const task = { ...operatorView().task, fullPrompt: '🚤'.repeat(40_000) };
    const folded = shown({ task });

    expect(text(folded)).toContain('Show all 40,000 characters');
    expect(folded.match(/🚤/gu)).toHaveLength(600);
  });

  test('without usage says so, and names no price', () => {
    const { usage: _usage, ...quiet } = operatorView({ usage });

    expect(text(renderToString(h(TaskEvidence, { view: quiet, row: row() })))).toContain(
      'The upstream has reported no usage.',
    );
    expect(compareQuantities(quiet, row()).at(-1)).toEqual({ name: 'Price', ordered: '$0.40 held', reported: '–' });
  });
});

describe('after a decision the page says', () => {
  const AT = Date.UTC(2026, 10, 24, 12, 3, 10);
  const clock = clockText(AT);
  const act = (actor: string, resolution: Resolution, at = AT) => ({
    ...{ id: 'act_1', actor, action: 'attention_resolved', subject: 'task_1', reason: 'it is long' },
    at: new Date(at).toISOString(),
    detailJson: JSON.stringify({ resolution }),
  });
  const money = (charged: string | undefined, released = '0'): DecidedMoney => ({
    held: usd('0.32'),
    ...(charged === undefined ? {} : { charged: usd(charged), released: usd(released) }),
  });
  const note = (over: Partial<Parameters<typeof describeDecision>[0]>): string =>
    describeDecision({ row: row(), you: 'ada', made: undefined, acts: [], money: undefined, ...over });

  test.each<[Resolution, DecidedMoney | undefined, string]>([
    ['completed', money('4.8'), 'completed: $4.80 charged, $0.32 of the hold used up'],
    ['completed', money('0.12', '0.2'), 'completed: $0.12 charged, $0.12 of the hold used up, $0.20 returned'],
    ['completed', money(undefined), 'completed: its money follows; $0.32 is held'],
    ['failed', money('0', '0.32'), 'failed: nothing charged, $0.32 returned'],
    ['failed', undefined, 'failed: its money cannot be read now'],
    ['retry', money(undefined), 'to be tried again: no money has moved'],
  ])('what one did: %s with %j', (resolution, moved, told) => {
    const made = { resolution, at: AT, ...(moved === undefined ? {} : { money: moved }) };

    expect(note({ made })).toBe(`You decided task_1 as ${told}; ${clock}.`);
  });

  test('the money as it is booked now, once it is', () => {
    expect(note({ made: { resolution: 'completed', at: AT, money: money(undefined) }, money: money('0.32') })).toBe(
      `You decided task_1 as completed: $0.32 charged, $0.32 of the hold used up; ${clock}.`,
    );
  });

  test('what somebody else decided, and why', () => {
    expect(note({ acts: [act('bob', 'failed')], money: money('0', '0.32') })).toBe(
      `bob decided it as failed: nothing charged, $0.32 returned; ${clock}. Reason: it is long`,
    );
  });

  test('what one decided in another tab', () => {
    expect(note({ acts: [act('ada', 'failed')], money: money('0', '0.32') })).toMatch(/^You decided task_1 as failed/);
  });

  test('that nobody decided: a decision of before the entry does not count', () => {
    expect(note({ acts: [act('bob', 'retry', 900)] })).toMatch(/^It has left the queue without a decision/);
  });
});

describe('several entries', () => {
  const chf = (amount: string) => ({ amount, currency: 'CHF' });
  const rows = [
    row(),
    row({ id: 'task_2', decisions: [{ resolution: 'completed', charge: usd('2.5'), release: usd('0.1') }] }),
    row({ id: 'task_3', decisions: [{ resolution: 'completed', charge: chf('7'), release: chf('0') }] }),
    row({ id: 'task_4', decisions: [{ resolution: 'completed', isUnpriced: true }] }),
  ];

  test('have their sum for each currency, and the number of those without amounts', () => {
    const sum = sumDecisions(rows, 'completed');

    expect(sumText(sum)).toBe('Charges $42.50 + 7.00 CHF and returns $0.10. The amount of one is not known here.');
    expect(confirmBatchText(sum, 4)).toBe('Charge $42.50 + 7.00 CHF');
    expect(sumText(sumDecisions([row()], 'retry'))).toBe('Moves no money now.');
  });

  test.each<[string, Partial<AttentionRow>, boolean]>([
    ['the same reason and decisions', { id: 'task_2', accountId: 'other', held: usd('9') }, true],
    ['another reason', { reason: 'hard_deadline' }, false],
    ['a decision that is possible for one alone', { decisions: [{ resolution: 'completed' }] }, false],
    ['a job', { isJob: true }, false],
  ])('with %s can be decided together: %j %s', (_what, over, isAlike) => {
    expect(nameCause(row(over)) === nameCause(row())).toBe(isAlike);
  });

  const results: readonly (readonly [string, BatchResult])[] = [
    [
      'task_1',
      {
        kind: 'decided',
        answer: { resolution: 'failed', at: 0, money: { held: usd('1'), charged: usd('0'), released: usd('1') } },
      },
    ],
    ['task_2', { kind: 'refused', why: 'bob has decided it' }],
    ['task_3', { kind: 'failed', why: 'the service cannot be reached' }],
  ];
  const run: BatchRun = {
    ids: ['task_1', 'task_2', 'task_3', 'task_4'],
    decision: { resolution: 'failed', reason: 'it is lost' },
    results: new Map(results),
    isRunning: false,
  };

  test('are told one by one after it: decided, refused, unknown, and not sent', () => {
    const batch = {
      run,
      begin: () => undefined,
      tryRest: () => undefined,
      stop: () => undefined,
      forget: () => undefined,
    };
    const shown = text(renderToString(h(BatchResults, { run, batch, onNext: () => undefined })));

    expect(shown).toContain('1 of 4 decided, 1 refused, 2 not decided.');
    expect(shown).toContain('task_1: nothing charged, $1.00 returned');
    expect(shown).toContain('task_2: refused: bob has decided it');
    expect(shown).toContain('task_3: not known whether it is decided: the service cannot be reached');
    expect(shown).toContain('task_4: not decided; it still waits in the queue');
    expect(shown).toContain('Try the rest again (2)');
    expect(listRest(run)).toEqual(['task_3', 'task_4']);
  });
});

describe('the next entry', () => {
  const entries = (decided: readonly string[]) =>
    ['a', 'b', 'c'].map((id) => ({ row: row({ id }), isDecided: decided.includes(id) }));

  test.each<[readonly string[], string, string | undefined]>([
    [[], '', 'a'],
    [[], 'a', 'b'],
    [['b'], 'a', 'c'],
    [['c'], 'c', 'a'],
    [['a', 'b'], 'b', 'c'],
    [['a', 'c'], 'b', undefined],
    [['a', 'b', 'c'], 'b', undefined],
  ])('with %j decided and %s open is %s', (decided, open, next) => {
    expect(findNext(entries(decided), open)?.row.id).toBe(next);
  });
});
