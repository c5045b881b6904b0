import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { AccountView as Answer } from '../../api/operator-accounts.ts';
import { AccountView } from './account.tsx';
import { MoneyView } from './money.tsx';
import type { MoneyViewProps } from './money.tsx';
import { BeforeAndAfter } from './account.tsx';
import { listChargedDays } from './parts/statement.tsx';

const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });
const text = (markup: string): string => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const query = new URLSearchParams();

const AMOUNTS = { priceKey: 'Alpha-H3', currency: 'USD' };
const view: MoneyViewProps = {
  money: {
    held: [{ currency: 'USD', balanceNanos: '12650250000000', heldNanos: '43200000000', accounts: '17' }],
    settled: [{ ...AMOUNTS, chargedNanos: '3120400000000', requests: '7801' }],
    margins: [
      {
        ...{ ...AMOUNTS, channel: 'east', requests: '2', reportedRequests: '1' },
        ...{ chargedNanos: '2800000000000', costNanos: '2240500000000', reportedCostNanos: '2240000000000' },
      },
      {
        ...{ ...AMOUNTS, channel: 'west', requests: '1', reportedRequests: '0' },
        ...{ chargedNanos: '320400000000', costNanos: '341020000000', reportedCostNanos: '0' },
      },
    ],
    ...{ overruns: '3', overrunNanos: '1250000000', lapses: '0' },
    lastCheck: {
      ...{ at: '1970-01-01T00:00:00Z', tookMs: '812', ok: false, entries: '48122', actor: 'ada' },
      faults: ['account demo is off by 0.01'],
    },
  },
  contracts: [
    { key: 'Alpha-H3', version: 1, sinceMs: '0', current: false, termsJson: '{"per_second":"0.07"}' },
    { key: 'Alpha-H3', version: 2, sinceMs: '0', current: true, termsJson: '{"per_second":"0.08"}' },
  ],
  period: { from: '1970-01-01', to: '1970-01-01' },
  query,
  canVerify: true,
  onVerified: () => undefined,
};

describe('money', () => {
  const markup = (changes: Partial<MoneyViewProps> = {}): string =>
    renderToString(h(MoneyView, { ...view, ...changes }));

  test('sums the margins exactly, and a loss is told by a word', () => {
    const shown = text(markup());

    expect(shown).toContain('west 1 $320.40 $341.02 – $341.02 of 1 −$20.62 loss −6.4 %');
    expect(shown).toContain('All 3 $3,120.40 $2,581.52 $2,240.00 of 1 $341.52 of 2 $538.88 17.3 %');
  });

  test('says which part of a cost the upstream reported, and which is estimated', () => {
    expect(text(markup())).toContain('Cost Reported Estimated Margin');
    expect(text(markup())).toContain('$2,240.50 $2,240.00 of 1 $0.50 of 1');
  });

  test('has what all accounts hold, and the charges above their holds', () => {
    expect(text(markup())).toContain('$12,650.25 Held for running work: $43.20 17 accounts');
    expect(text(markup())).toContain('Charges above their holds: 3, by $1.25 in all.');
  });

  test('says what the last check of the ledger found', () => {
    expect(text(markup())).toContain('✕ The ledger has faults.');
    expect(text(markup())).toContain('account demo is off by 0.01');
    expect(text(markup())).toContain('by ada, 48,122 entries in 812 ms');
  });

  test('who may not verify is told the role that may', () => {
    const shown = markup({ canVerify: false });

    expect(shown).toMatch(/<button type="button" disabled/);
    expect(text(shown)).toContain('You need the role treasurer to ');
  });

  test('shows the versions of a price, the one in use first', () => {
    expect(text(markup())).toMatch(/Version 2 in use, .*0\.08 .*Version 1 .*0\.07/);
  });
});

const answer: Answer = {
  account: { id: 'demo', balance: usd('74.12'), held: usd('80'), free: usd('-5.88'), createdAt: 0 },
  tokens: [
    {
      id: 'tok_1',
      name: 'studio',
      models: ['*'],
      limit: usd('100'),
      used: usd('25.88'),
      limits: { inFlight: 5 },
      webhooks: 'write',
      tokens: 'none',
      queue: { wait: 'none', class: 'standard' },
      createdAt: 0,
      isOwn: false,
      canRevoke: true,
    },
  ],
  credits: [{ at: 0, amount: usd('250'), reason: 'invoice 7', actor: 'ada' }],
  usage: {
    currency: 'USD',
    from: 0,
    to: 0,
    split: 'model',
    days: ['2026-11-01', '2026-11-02', '2026-11-03'],
    series: [
      { key: 'a', name: 'Alpha-H3', amounts: ['0.4', '0', '0.1'], total: sums('0.5') },
      { key: 'b', name: 'Beta-V1', amounts: ['0.2', '0', '0.000000001'], total: sums('0.200000001') },
    ],
    total: sums('0.700000001'),
    isTruncated: false,
  },
  canChange: true,
};

function sums(amount: string): Answer['usage']['total'] {
  return { amount, requests: 3, seconds: 15, inputTokens: 0, outputTokens: 0, images: 0 };
}

describe('an account', () => {
  const view = (changes: Partial<Answer> = {}): string =>
    renderToString(h(AccountView, { view: { ...answer, ...changes }, acts: [], query, onChanged: () => undefined }));

  test('shows its money, its tokens with their limits, and its credits', () => {
    const shown = text(view());

    expect(shown).toContain('Free −$5.88');
    expect(shown).toMatch(/studio tok_1 ● Live every model \$25\.88 of \$100\.00 Running tasks: 5/);
    expect(shown).toContain('$250.00 invoice 7 ada');
  });

  test('its statement leaves out days without a charge, and sums each day exactly', () => {
    expect(listChargedDays(answer.usage)).toEqual([
      { day: '2026-11-03', amounts: ['0.1', '0.000000001'], total: '0.100000001' },
      { day: '2026-11-01', amounts: ['0.4', '0.2'], total: '0.6' },
    ]);
  });

  test('who may not change it sees every act disabled, with the role that they need', () => {
    const shown = view({ canChange: false });

    expect(shown).toContain('<fieldset class="plain" disabled aria-describedby="may-not-change">');
    expect(shown.match(/<button type="button"[^>]*disabled/g)).toHaveLength(3);
    expect(text(shown)).toContain('You need the role treasurer to ');
  });
});

describe('the second step of a credit', () => {
  const step = (amount: string): string => text(renderToString(h(BeforeAndAfter, { account: answer.account, amount })));

  test('says the balance before and after', () => {
    expect(step('250.5')).toContain('Balance before $74.12 Change $250.50 Balance after $324.62');
  });

  test('warns when the balance goes below zero', () => {
    expect(step('-75')).toContain('Balance after −$0.88');
    expect(step('-75')).toContain('The balance will be below zero.');
  });
});
