import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { SqlStatement, SqlWork } from '@reelgate/platform/sql/sql';
import type { Hold, HoldRecord } from '../../domain/hold.ts';
import { releaseEvent, settleEvent } from '../../domain/ledger.ts';
import type { FinancialEvent } from '../../domain/ledger.ts';
import { countMargin, selectCost } from '../../domain/margin.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';
import type { CostedDecision } from '../../domain/settlement.ts';
import type { UpstreamCost } from '../../domain/margin.ts';
import { computeQuantities, floorToHour } from '../../domain/usage.ts';
import { groupsBy, sumAmounts } from '../balances/groups.ts';
import { buildAccountChange, buildTokenChange } from '../balances/sql-balances.ts';
import { buildPostings } from '../ledger/sql-ledger-events.ts';
import type { TermsOf } from '../prices/sql-price-store.ts';
import { buildFailedCosts, buildUsageCounts } from '../usage/sql-usage-hours.ts';
import type { FailedCost, UsageCharge } from '../usage/sql-usage-hours.ts';
import { findVoid, newDeferral, newRelease } from './hold-rows.ts';
import type { LockHolds } from './hold-rows.ts';
import type { Outcome } from './hold-store.ts';

export interface EndRequest {
  readonly taskId: string;
  readonly at: number;
  readonly decide: (hold: Hold, terms: PriceTerms) => CostedDecision;
}

/** The result of a request. The outcome is undefined if the task has no record. A refused request was not written. */
export type HoldEnding = { readonly outcome: Outcome | undefined } | { readonly refusal: unknown };

/** The reads that a transaction needs of its holds. */
export interface HoldReads {
  readonly lockHolds: LockHolds;
  readonly termsOf: TermsOf;
}

const NO_COST: UpstreamCost = { reportedMicroUsd: undefined, estimated: undefined };
const SETTLE = buildStatement<
  'taskId' | 'basis' | 'amount' | 'at' | 'seconds' | 'inputTokens' | 'outputTokens' | 'reported' | 'estimated'
>(
  (value) => `UPDATE holds SET state = 'settled', basis = ${value('basis')}, charged_nanos = ${value('amount')},
    ended_at = ${value('at')}, used_seconds = ${value('seconds')}, used_input_tokens = ${value('inputTokens')},
    used_output_tokens = ${value('outputTokens')}, reported_cost_micro_usd = ${value('reported')},
    estimated_cost_nanos = ${value('estimated')} WHERE task_id = ${value('taskId')}`,
);
const RELEASE = buildStatement<'taskId' | 'at' | 'reported' | 'estimated'>(
  (value) => `UPDATE holds SET state = 'released', ended_at = ${value('at')},
    reported_cost_micro_usd = ${value('reported')}, estimated_cost_nanos = ${value('estimated')}
    WHERE task_id = ${value('taskId')}`,
);
const DEFER = 'UPDATE holds SET deferred_nanos = $1, deferred_at = $2 WHERE task_id = $3';

/** A decision as it is written. */
interface DecidedEnd {
  readonly statement: SqlStatement;
  readonly record: HoldRecord;
  /** False if an earlier decision on the hold was the same. */
  readonly isNew: boolean;
  /** The money that it moves, undefined if it moves no money. */
  readonly posting: EndPosting | undefined;
}

interface EndPosting {
  readonly hold: Hold;
  readonly at: number;
  readonly event: FinancialEvent;
  readonly amount: Nanos;
  /** Undefined for a release. */
  readonly charge: UsageCharge | undefined;
  /** The cost of released work at its upstream, undefined if it is not known. */
  readonly failedCost: Nanos | undefined;
}

/**
 * Ends the holds in the transaction of the query, each request in its turn. A locked hold that is open has no last event
 * yet. A decision that throws refuses its own request only.
 */
export async function endHolds(
  query: SqlWork,
  requests: readonly EndRequest[],
  { lockHolds, termsOf }: HoldReads,
): Promise<readonly HoldEnding[]> {
  const records = await lockHolds(
    query,
    requests.map(({ taskId }) => taskId),
  );
  const decided: DecidedEnd[] = [];
  const endings: HoldEnding[] = [];
  for (const request of requests) {
    const record = records.get(request.taskId) ?? (await findVoid(query, request.taskId));
    if (record?.state !== 'open') {
      endings.push({ outcome: record && { record, isNew: false } });
      continue;
    }
    const terms = await termsOf(query, record.hold.facts.priceKey, record.hold.priceVersion);
    try {
      const end = decideEnd(record, request, terms);
      decided.push(end);
      records.set(request.taskId, end.record);
      endings.push({ outcome: { record: end.record, isNew: end.isNew } });
    } catch (error) {
      endings.push({ refusal: error });
    }
  }
  query.atEnd(...decided.map(({ statement }) => statement), ...buildEndPostings(decided));
  return endings;
}

function decideEnd(
  { hold, deferral }: Extract<HoldRecord, { state: 'open' }>,
  { taskId, at, decide }: EndRequest,
  terms: PriceTerms,
): DecidedEnd {
  const ending = decide(hold, terms);
  if (ending.kind === 'defer') {
    // the time of the first deferral: since then the hold has waited for an operator
    const first = newDeferral(deferral?.at ?? at, ending.amount);
    return {
      statement: [DEFER, [ending.amount ?? null, first.at, taskId]],
      record: { state: 'open', hold, deferral: first },
      isNew: deferral === undefined,
      posting: undefined,
    };
  }
  const { cost = NO_COST } = ending;
  const { reportedMicroUsd: reported = null, estimated = null } = cost;
  const sourced = selectCost(hold.currency, cost);
  if (ending.kind === 'release')
    return {
      statement: RELEASE({ taskId, at, reported, estimated }),
      record: { state: 'ended', hold, settlement: newRelease(at), cost },
      isNew: true,
      posting: {
        ...{ hold, at, event: releaseEvent(hold, at), amount: 0n },
        ...{ charge: undefined, failedCost: sourced?.amount },
      },
    };
  const { amount, basis, usage } = ending;
  const { accountId, tokenId, facts, label } = hold;
  const { seconds = null, inputTokens = null, outputTokens = null } = usage;
  const quantities = computeQuantities(amount, facts, usage);
  return {
    statement: SETTLE({ taskId, basis, amount, at, seconds, inputTokens, outputTokens, reported, estimated }),
    record: { state: 'ended', hold, settlement: { amount, basis, at }, cost },
    isNew: true,
    posting: {
      ...{ hold, at, amount, event: settleEvent(hold, amount, at) },
      charge: {
        ...{ accountId, tokenId, priceKey: facts.priceKey, label },
        ...{ quantities, margin: countMargin(amount, sourced) },
      },
      failedCost: undefined,
    },
  };
}

/** The events, then the hours of usage, then tokens, then accounts, each in the order of their ids. */
function buildEndPostings(decided: readonly DecidedEnd[]): readonly SqlStatement[] {
  const postings = decided.flatMap(({ posting }) => (posting === undefined ? [] : [posting]));
  const held = (group: readonly EndPosting[]): Nanos => sumAmounts(group, ({ hold }) => hold.amount);
  const charged = (group: readonly EndPosting[]): Nanos => sumAmounts(group, ({ amount }) => amount);
  const byHour = [...Map.groupBy(postings, ({ at }) => floorToHour(at))].sort(([one], [other]) => one - other);
  return [
    ...buildPostings(postings.map(({ event }) => event)),
    ...byHour.flatMap(([hour, group]) => [
      ...buildUsageCounts(
        group.flatMap(({ charge }) => charge ?? []),
        hour,
      ),
      ...buildFailedCosts(group.flatMap(toFailedCost), hour),
    ]),
    ...groupsBy(postings, ({ hold }) => hold.tokenId).map((group) =>
      buildTokenChange(group[0]?.hold.tokenId ?? '', charged(group) - held(group)),
    ),
    ...groupsBy(postings, ({ hold }) => hold.accountId).map((group) =>
      buildAccountChange(group[0]?.hold.accountId ?? '', { balance: -charged(group), held: -held(group) }),
    ),
  ];
}

function toFailedCost({ hold, failedCost }: EndPosting): readonly FailedCost[] {
  return failedCost === undefined ? [] : [{ accountId: hold.accountId, cost: failedCost }];
}
