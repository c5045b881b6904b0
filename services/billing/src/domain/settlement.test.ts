import { describe, expect, test } from '@jest/globals';
import { priceFacts } from '../../testing/facts.ts';
import type { Hold, ReportedUsage } from './hold.ts';
import { formatAmount, parseAmount } from './money.ts';
import type { PriceFacts } from './price.ts';
import { parseTerms } from './price-terms.ts';
import type { TermsEntry } from './price-terms.ts';
import { decideSettlement } from './settlement.ts';

const VIDEO: TermsEntry = { per_second: { '768P': '0.08', '2K': '0.13' }, images: { free: 5, each: '0.04' } };
const CONTEXT_IR: TermsEntry = { per_million_tokens: { input: '0.90', output: '3.60' }, hold: '0.05' };

interface Case {
  readonly terms: TermsEntry;
  readonly held: string;
  readonly facts?: Partial<PriceFacts>;
  readonly usage?: Partial<ReportedUsage>;
  readonly confirmed?: boolean;
}

function settled({ terms, held, facts = {}, usage = {}, confirmed = false }: Case): string {
  const hold: Hold = {
    taskId: 't',
    accountId: 'a',
    tokenId: 'k',
    amount: parseAmount(held)!,
    currency: 'USD',
    priceVersion: 1,
    facts: priceFacts(facts),
    placedAt: 0,
  };
  const reported = { seconds: undefined, inputTokens: undefined, outputTokens: undefined, ...usage };
  const ending = decideSettlement(hold, parseTerms(terms), reported, { overrunFactor: 10, confirmed });
  if (ending.kind === 'charge') return `${ending.basis} ${formatAmount(ending.amount)}`;
  return ending.kind === 'defer'
    ? `defer ${ending.amount === undefined ? '' : formatAmount(ending.amount)}`
    : ending.kind;
}

const fiveSeconds = { resolution: '768P', seconds: 5n };

describe('a finished task is charged by', () => {
  test.each<[string, Case, string]>([
    [
      'the seconds that the upstream reports',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 6n } },
      'usage 0.48',
    ],
    [
      'fewer seconds than were estimated',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 1n } },
      'usage 0.08',
    ],
    [
      'the price of the frozen resolution',
      { terms: VIDEO, held: '0.65', facts: { resolution: '2K', seconds: 5n }, usage: { seconds: 5n } },
      'usage 0.65',
    ],
    [
      'the reported seconds instead of input and output seconds',
      { terms: VIDEO, held: '0.8', facts: { ...fiveSeconds, inputVideoSeconds: 5n }, usage: { seconds: 9n } },
      'usage 0.72',
    ],
    [
      'the reported seconds and the frozen images',
      { terms: VIDEO, held: '0.44', facts: { ...fiveSeconds, images: 6n }, usage: { seconds: 10n } },
      'usage 0.84',
    ],
    [
      'the frozen input seconds when they have their own price',
      {
        terms: { ...VIDEO, per_input_second: '0.01' },
        held: '0.46',
        facts: { ...fiveSeconds, inputVideoSeconds: 6n },
        usage: { seconds: 12n },
      },
      'usage 0.54',
    ],
    [
      'at most the reported seconds as input seconds',
      {
        terms: { ...VIDEO, per_input_second: '0.01' },
        held: '0.46',
        facts: { ...fiveSeconds, inputVideoSeconds: 6n },
        usage: { seconds: 4n },
      },
      'usage 0.04',
    ],
    ['the frozen estimate when there is no usage', { terms: VIDEO, held: '0.4', facts: fiveSeconds }, 'estimate 0.4'],
    [
      'the frozen estimate when no seconds were used',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 0n } },
      'estimate 0.4',
    ],
    [
      'the frozen estimate when the usage is invalid',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: -3n } },
      'estimate 0.4',
    ],
    [
      'no tokens when only seconds have a price',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { outputTokens: 97_645n } },
      'estimate 0.4',
    ],
    ['the hold when the seconds are never known', { terms: VIDEO, held: '0', facts: { resolution: '768P' } }, 'hold 0'],
    [
      'the tokens that the upstream reports',
      { terms: CONTEXT_IR, held: '0.05', usage: { inputTokens: 5664n, outputTokens: 3426n } },
      'usage 0.0174312',
    ],
    ['tokens of one kind', { terms: CONTEXT_IR, held: '0.05', usage: { outputTokens: 1n } }, 'usage 0.0000036'],
    ['the hold when the tokens are not known', { terms: CONTEXT_IR, held: '0.05' }, 'hold 0.05'],
    [
      'the hold when no tokens were used',
      {
        terms: CONTEXT_IR,
        held: '0.05',
        usage: { inputTokens: 0n, cachedInputTokens: 0n, outputTokens: 0n, characters: 0n },
      },
      'hold 0.05',
    ],
    [
      'no seconds when only tokens have a price',
      { terms: CONTEXT_IR, held: '0.05', usage: { seconds: 8n } },
      'hold 0.05',
    ],
    [
      'the price of one request',
      { terms: { per_request: '0.02' }, held: '0.02', usage: { seconds: 8n } },
      'estimate 0.02',
    ],
    [
      'a price of zero',
      { terms: { per_second: '0' }, held: '0', facts: { seconds: 5n }, usage: { seconds: 5000n } },
      'usage 0',
    ],
  ])('%s', (_what, given, expected) => {
    expect(settled(given)).toBe(expected);
  });
});

describe('usage above the hold', () => {
  test.each<[string, Case, string]>([
    [
      'is charged in full up to the factor',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 50n } },
      'usage 4',
    ],
    [
      'waits for an operator above the factor',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 51n } },
      'defer 4.08',
    ],
    [
      'is charged after an operator confirms it',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 51n }, confirmed: true },
      'usage 4.08',
    ],
    [
      'waits for an operator when nothing was held',
      { terms: VIDEO, held: '0', facts: { resolution: '768P' }, usage: { seconds: 1n } },
      'defer 0.08',
    ],
    [
      'never exceeds the largest amount',
      { terms: VIDEO, held: '0.4', facts: fiveSeconds, usage: { seconds: 2n ** 62n }, confirmed: true },
      'defer ',
    ],
  ])('%s', (_what, given, expected) => {
    expect(settled(given)).toBe(expected);
  });
});
