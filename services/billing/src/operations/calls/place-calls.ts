import type { Message } from '@bufbuild/protobuf';
import type { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { callIdTaken, callVoided, noPrice, unknownAccount } from '../../billing-refusals.ts';
import { CALL_NANOS_MAX } from '../../domain/call.ts';
import type { Call, CallRecord } from '../../domain/call.ts';
import { computeBound } from '../../domain/price.ts';
import type { PriceContract, PriceFacts } from '../../domain/price.ts';
import type { CallOrder, Remainder } from '@reelgate/proto/billing/v1/call_service';
import type { PlaceOutcome } from '../../store/calls/call-store.ts';
import type { BillingDeps } from '../deps.ts';
import type { Quote } from '../prices/prices.ts';

/** A call before it is placed. Its facts are the upper bound of its usage, and their price key is ignored. */
export interface CallRequest extends Omit<CallOrder, keyof Message | 'facts' | 'lapsesAt'> {
  readonly facts: PriceFacts;
  readonly lapsesAt: number;
}

/** The result of one request. */
export type CallPlacement = { readonly held: Quote } | { readonly refusal: Problem };

export interface PlacedBatch {
  /** One for each request, in their order. */
  readonly placed: readonly CallPlacement[];
  /** Names the batch while the disk still writes its holds. Undefined once they are durable. */
  readonly unwritten: string | undefined;
  /** The amounts left to the accounts and tokens of the batch, for each account and token that had no call refused. */
  readonly remainders: readonly Remainder[];
}

export interface PlaceOptions {
  /** True if the answer may come before the holds are durable. */
  readonly ahead: boolean;
  readonly signal?: AbortSignal | undefined;
}

type Draft = { readonly call: Call } | { readonly refusal: Problem };

interface PlaceContext {
  readonly currencies: ReadonlyMap<string, string | undefined>;
  readonly contracts: ReadonlyMap<string, PriceContract>;
  readonly now: number;
}

interface Outcomes {
  readonly outcomes: ReadonlyMap<string, PlaceOutcome>;
  readonly remainders: readonly Remainder[];
  readonly unwritten?: string | undefined;
}

/**
 * Reserves the upper bound of each call under the current contract, in one transaction. A known call keeps its hold.
 * The holds are durable, unless the caller confirms the batch before it shows anything of its calls, and no hold of the
 * batch is large.
 */
export async function placeCalls(
  deps: BillingDeps,
  requests: readonly CallRequest[],
  { ahead, signal }: PlaceOptions,
): Promise<PlacedBatch> {
  const context = await readContext(deps, requests);
  const drafts = new Map(requests.map((request) => [request.callId, draft(request, context)]));
  signal?.throwIfAborted();
  const { outcomes, ...batch } = await placeDrafts(deps, drafts, ahead);
  const placed = requests.map(({ callId, accountId }) => {
    const { placed: one, word } = toCallPlacement(outcomes.get(callId), accountId);
    deps.measures.callPlacement(word);
    return one;
  });
  return { placed, unwritten: batch.unwritten, remainders: batch.remainders };
}

/** Reads each account and each contract once for the whole batch. */
async function readContext(
  { accounts, prices, clock }: BillingDeps,
  requests: readonly CallRequest[],
): Promise<PlaceContext> {
  const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
  const keys = [...new Set(requests.flatMap(({ priceKeys }) => priceKeys))];
  const [currencies, contracts] = await Promise.all([
    Promise.all(accountIds.map(async (id) => [id, await accounts.findCurrency(id)] as const)),
    Promise.all(keys.map((key) => prices.current(key))),
  ]);
  return {
    currencies: new Map(currencies),
    contracts: new Map(
      contracts.flatMap((contract) => (contract === undefined ? [] : [[contract.key, contract] as const])),
    ),
    now: clock.now(),
  };
}

function draft(
  { callId: id, accountId, tokenId, priceKeys, facts, lapsesAt, label }: CallRequest,
  { currencies, contracts, now }: PlaceContext,
): Draft {
  const currency = currencies.get(accountId);
  if (currency === undefined) return { refusal: unknownAccount('account_id') };
  const priceKey = priceKeys.find((key) => contracts.has(key));
  const contract = priceKey === undefined ? undefined : contracts.get(priceKey);
  if (contract === undefined) return { refusal: noPrice('no_contract') };
  const frozen = { ...facts, priceKey: contract.key };
  const amount = computeBound(contract.terms, frozen);
  if (typeof amount === 'string') return { refusal: noPrice(amount) };
  if (amount > CALL_NANOS_MAX) return { refusal: noPrice('too_large') };
  return {
    call: {
      id,
      accountId,
      tokenId,
      amount,
      currency,
      priceVersion: contract.version,
      facts: frozen,
      placedAt: now,
      lapsesAt,
      label: label || undefined,
    },
  };
}

/**
 * A refused call can have a hold from an earlier request, from before its price or account was removed. That hold still
 * stands.
 */
async function placeDrafts(deps: BillingDeps, drafts: ReadonlyMap<string, Draft>, ahead: boolean): Promise<Outcomes> {
  const ready: Call[] = [];
  const refused: (readonly [string, Problem])[] = [];
  for (const [id, one] of drafts) {
    if ('call' in one) ready.push(one.call);
    else refused.push([id, one.refusal]);
  }
  const placed = ready.length === 0 ? NONE_READY : await placeReadyCalls(deps, ready, ahead);
  if (refused.length === 0) return placed;
  const outcomes = new Map(placed.outcomes);
  const known = await deps.calls.find(refused.map(([id]) => id));
  for (const [id, refusal] of refused) {
    const record = known.get(id);
    outcomes.set(id, record === undefined ? { refusal } : { record, isNew: false });
  }
  return { ...placed, outcomes };
}

const NONE_READY: Outcomes = { outcomes: new Map(), remainders: [] };

async function placeReadyCalls(
  { calls, newId, unwritten, sendAheadMax }: BillingDeps,
  ready: readonly Call[],
  ahead: boolean,
): Promise<Outcomes> {
  const batchId = newId('batch');
  const isAhead = ahead && ready.every(({ amount }) => amount <= sendAheadMax);
  const { result, durable } = await calls.place({ batchId, calls: ready, ahead: isAhead });
  if (durable === undefined) return result;
  if (!isAhead) {
    await durable;
    return result;
  }
  unwritten.add(batchId, durable);
  return { ...result, unwritten: batchId };
}

function toCallPlacement(
  outcome: PlaceOutcome | undefined,
  accountId: string,
): { readonly placed: CallPlacement; readonly word: string } {
  if (outcome === undefined) throw new Error('a call was neither placed nor refused');
  const refusal = 'refusal' in outcome ? outcome.refusal : findRecordRefusal(outcome.record, accountId);
  if (refusal !== undefined || 'refusal' in outcome)
    return { placed: { refusal: refusal ?? callVoided() }, word: (refusal ?? callVoided()).reason };
  const { amount, currency, facts, priceVersion: version } = outcome.record.call;
  return {
    placed: { held: { amount, currency, contract: facts.priceKey, version } },
    word: outcome.isNew ? 'placed' : 'repeated',
  };
}

/**
 * The refusal of a known call that was released or belongs to another account. A release that came first has no
 * account.
 */
function findRecordRefusal({ call, settlement }: CallRecord, accountId: string): Problem | undefined {
  if (settlement?.basis === 'released' && (call.accountId === '' || call.accountId === accountId)) return callVoided();
  return call.accountId === accountId ? undefined : callIdTaken();
}

/**
 * Resolves when the holds of a batch are durable and the batch is marked as confirmed. A batch is confirmed once; a
 * restart forgets the others, and their calls lapse uncharged.
 */
export async function confirmCalls({ unwritten, calls }: BillingDeps, batchId: string): Promise<void> {
  const durable = unwritten.take(batchId);
  if (durable === undefined) throw serviceUnavailable(new Error('the batch of calls is unknown'));
  // the mark is removed only after the disk has the holds, and then at once
  await Promise.all([durable, calls.confirm(batchId)]);
}
