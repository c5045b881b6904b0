import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { AccountView } from './account.tsx';
import type { AccountViewProps } from './account.tsx';
import { AccountsView } from './accounts.tsx';
import { MoneyView } from './money.tsx';
import type { MoneyViewProps } from './money.tsx';
import { BeforeAndAfter } from './account.tsx';
import { listChargedDays, listSeries } from './parts/statement.tsx';

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

const USAGE_ROW = {
  ...{ name: '', splitName: '', requests: '1', seconds: '5', inputTokens: '0', cachedInputTokens: '0' },
  ...{ outputTokens: '0', images: '0', characters: '0', searches: '0' },
};
const charge = (key: string, splitKey: string, amountNanos: string) => ({ ...USAGE_ROW, key, splitKey, amountNanos });
const answer: AccountViewProps = {
  account: {
    ...{ id: 'demo', currency: 'USD', balanceNanos: '74120000000', heldNanos: '80000000000' },
    createdAt: '1970-01-01T00:00:00Z',
  },
  tokens: [
    {
      ...{ id: 'tok_1', accountId: 'demo', name: 'studio', models: ['*'], label: '', hint: '', madeByTokenId: '' },
      ...{ limitNanos: '100000000000', usedNanos: '25880000000', createdAt: '1970-01-01T00:00:00Z' },
      limits: { createsPerMinute: 0, readsPerMinute: 0, callsPerMinute: 0, inFlight: 5 },
      ...{ webhooks: 'WEBHOOK_RIGHT_WRITE', tokens: 'TOKEN_RIGHT_NONE' },
      queue: { wait: 'TOKEN_WAIT_NONE', class: 'TOKEN_CLASS_STANDARD' },
    },
  ],
  credits: [{ key: 'k', at: '1970-01-01T00:00:00Z', amountNanos: '250000000000', reason: 'invoice 7', actor: 'ada' }],
  usage: {
    groups: [
      charge('2026-11-01', 'Beta-V1', '200000000'),
      charge('2026-11-01', 'Alpha-H3', '400000000'),
      charge('2026-11-02', 'Alpha-H3', '0'),
      charge('2026-11-03', 'Alpha-H3', '100000000'),
      charge('2026-11-03', 'Beta-V1', '1'),
    ],
    total: { ...charge('', '', '700000001'), requests: '3' },
    ...{ currency: 'USD', truncated: false },
  },
  acts: [],
  period: { from: '2026-11-01', to: '2026-11-03' },
  query,
  canChange: true,
  onChanged: () => undefined,
};

describe('an account', () => {
  const markup = (changes: Partial<AccountViewProps> = {}): string =>
    renderToString(h(AccountView, { ...answer, ...changes }));

  test('shows its money, its tokens with their limits, and its credits', () => {
    const shown = text(markup());

    expect(shown).toContain('Free −$5.88');
    expect(shown).toMatch(/studio tok_1 ● Live every model \$25\.88 of \$100\.00 Running tasks: 5/);
    expect(shown).toContain('While all is busy: refuse webhooks write tokens none');
    expect(shown).toContain('$250.00 invoice 7 ada');
  });

  test('its statement leaves out days without a charge, and sums each day exactly', () => {
    const { groups } = answer.usage;
    const series = listSeries(groups);

    expect(series.map(({ name }) => name)).toEqual(['Alpha-H3', 'Beta-V1']);
    expect(listChargedDays(groups, series)).toEqual([
      { day: '2026-11-03', amounts: [100_000_000n, 1n], total: 100_000_001n },
      { day: '2026-11-01', amounts: [400_000_000n, 200_000_000n], total: 600_000_000n },
    ]);
    expect(text(markup())).toContain('$0.700000001 for 3 requests');
  });

  test('who may not change it sees every act disabled, with the role that they need', () => {
    const shown = markup({ canChange: false });

    expect(shown).toContain('<fieldset class="plain" disabled aria-describedby="may-not-change">');
    expect(shown.match(/<button type="button"[^>]*disabled/g)).toHaveLength(3);
    expect(text(shown)).toContain('You need the role treasurer to ');
  });
});

describe('the accounts', () => {
  const list = { accounts: [answer.account, { ...answer.account, id: 'lab' }], hasMore: true };
  const markup = (address: string): string =>
    renderToString(h(AccountsView, { list, query: new URLSearchParams(address) }));

  test('are listed by id, and a page names the next one', () => {
    expect(text(markup(''))).toContain('demo −$5.88 $74.12 $80.00');
    expect(markup('')).toContain('after=lab');
  });

  test('have one page by what is free', () => {
    expect(markup('order=balance')).not.toContain('after=');
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
