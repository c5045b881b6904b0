import type { Problem } from '@reelgate/platform/problem';
import type { Call, CallRecord } from '../../domain/call.ts';
import { CALL_NANOS_MAX } from '../../domain/call.ts';
import { amountOf } from '../../domain/price.ts';
import type { PriceContract, PriceFacts } from '../../domain/price.ts';
import { noPrice, takenCallId, unknownAccount, voidedCall } from '../../billing-refusals.ts';
import type { PlaceOutcome } from '../../store/calls/call-store.ts';
import type { BillingDeps } from '../deps.ts';
import type { Quote } from '../prices/quote-price.ts';

export interface CallRequest {
  readonly callId: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** The most particular first; the first that has a contract today is the call's. */
  readonly priceKeys: readonly string[];
  /** The upper bound; its price key is not read. */
  readonly facts: PriceFacts;
  readonly lapsesAt: number;
}

/** What became of one request. */
export type Placed = { readonly held: Quote } | { readonly refusal: Problem };

type Deps = Pick<BillingDeps, 'accounts' | 'prices' | 'calls' | 'clock' | 'newId' | 'measures'>;
type Draft = { readonly call: Call } | { readonly refusal: Problem };

interface Today {
  readonly currencies: ReadonlyMap<string, string | undefined>;
  readonly contracts: ReadonlyMap<string, PriceContract>;
  readonly now: number;
}

/**
 * Reserves the upper bound of each call under today's contract, all of them in one transaction. A call that is known
 * keeps the hold that it has.
 */
export async function placeCalls(
  deps: Deps,
  requests: readonly CallRequest[],
  signal?: AbortSignal,
): Promise<readonly Placed[]> {
  const today = await readToday(deps, requests);
  const drafts = new Map(requests.map((request) => [request.callId, draft(request, today)]));
  signal?.throwIfAborted();
  const outcomes = await place(deps, drafts);
  return requests.map(({ callId, accountId }) => {
    const { placed, word } = answer(outcomes.get(callId), accountId);
    deps.measures.callPlacement(word);
    return placed;
  });
}

/** Each account and each contract is read once for the whole batch. */
async function readToday({ accounts, prices, clock }: Deps, requests: readonly CallRequest[]): Promise<Today> {
  const accountIds = [...new Set(requests.map(({ accountId }) => accountId))];
  const keys = [...new Set(requests.flatMap(({ priceKeys }) => priceKeys))];
  const [currencies, contracts] = await Promise.all([
    Promise.all(accountIds.map(async (id) => [id, await accounts.currencyOf(id)] as const)),
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
  { callId: id, accountId, tokenId, priceKeys, facts, lapsesAt }: CallRequest,
  { currencies, contracts, now }: Today,
): Draft {
  const currency = currencies.get(accountId);
  if (currency === undefined) return { refusal: unknownAccount('account_id') };
  const priceKey = priceKeys.find((key) => contracts.has(key));
  const contract = priceKey === undefined ? undefined : contracts.get(priceKey);
  if (contract === undefined) return { refusal: noPrice('no_contract') };
  const frozen = { ...facts, priceKey: contract.key };
  const amount = amountOf(contract.terms, frozen);
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
    },
  };
}

/** The price or the account may have gone since a call was placed; then its hold stands all the same. */
async function place(
  { calls, newId }: Deps,
  drafts: ReadonlyMap<string, Draft>,
): Promise<ReadonlyMap<string, PlaceOutcome>> {
  const ready: Call[] = [];
  const refused: (readonly [string, Problem])[] = [];
  for (const [id, one] of drafts) {
    if ('call' in one) ready.push(one.call);
    else refused.push([id, one.refusal]);
  }
  const placed: ReadonlyMap<string, PlaceOutcome> =
    ready.length === 0 ? new Map() : await calls.place(newId('batch'), ready);
  if (refused.length === 0) return placed;
  const outcomes = new Map(placed);
  const known = await calls.find(refused.map(([id]) => id));
  for (const [id, refusal] of refused) {
    const record = known.get(id);
    outcomes.set(id, record === undefined ? { refusal } : { record, isNew: false });
  }
  return outcomes;
}

function answer(
  outcome: PlaceOutcome | undefined,
  accountId: string,
): { readonly placed: Placed; readonly word: string } {
  if (outcome === undefined) throw new Error('a call was neither placed nor refused');
  const refusal = 'refusal' in outcome ? outcome.refusal : hindrance(outcome.record, accountId);
  if (refusal !== undefined || 'refusal' in outcome)
    return { placed: { refusal: refusal ?? voidedCall() }, word: (refusal ?? voidedCall()).reason };
  const { amount, currency, facts, priceVersion: version } = outcome.record.call;
  return {
    placed: { held: { amount, currency, contract: facts.priceKey, version } },
    word: outcome.isNew ? 'placed' : 'repeated',
  };
}

/** Why nothing may be sent under a known call; a release that came first has no account. */
function hindrance({ call, settlement }: CallRecord, accountId: string): Problem | undefined {
  if (settlement?.basis === 'released' && (call.accountId === '' || call.accountId === accountId)) return voidedCall();
  return call.accountId === accountId ? undefined : takenCallId();
}
