import { LRUCache } from 'lru-cache';
import { isProblem } from '@reelgate/platform/problem';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import { Basis as WireBasis } from '@reelgate/proto/billing/v1/hold';
import type { Charge as WireCharge, Hold, LedgerLine } from '@reelgate/proto/billing/v1/hold';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { PriceFacts } from '@reelgate/proto/billing/v1/price';
import type { BillingClient } from './billing-client.ts';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { toMs, requireValue } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** Terms never change under their version, so these are kept for as long as they are used. */
const TERMS_MAX = 1000;

export type ChargeBasis = EnumWord<typeof WireBasis>;

/** The money of a task in short. Amounts are billionths. */
export interface TaskCharge {
  readonly taskId: string;
  readonly heldNanos: bigint;
  /** The charged amount; undefined until the hold is settled. */
  readonly chargedNanos: bigint | undefined;
  readonly basis: ChargeBasis | undefined;
  readonly currency: string;
}

/** A posting to a book of the account. */
export interface BookLine {
  readonly event: string;
  readonly book: string;
  readonly amountNanos: bigint;
  readonly at: number;
}

export interface TaskHold extends Omit<TaskCharge, 'taskId'> {
  readonly contract: string;
  readonly version: number;
  readonly facts: Readonly<Record<string, number>>;
  readonly heldAt: number;
  readonly settledAt: number | undefined;
  /** The cost at the upstream by its price; undefined if there is none, or if the reader is no operator. */
  readonly estimatedCostNanos: bigint | undefined;
  readonly lines: readonly BookLine[];
}

export interface AccountMoney {
  readonly balanceNanos: bigint;
  readonly heldNanos: bigint;
  readonly currency: string;
}

/** The money of an account as pages read it. */
export interface AccountBooks {
  account(caller: AccountCaller): Promise<AccountMoney>;
  /** Reads the charges by task. A task without a hold is left out. */
  charges(caller: AccountCaller, taskIds: readonly string[]): Promise<ReadonlyMap<string, TaskCharge>>;
  /** Reads the hold of a task; undefined if the task has none or belongs to another account. */
  hold(caller: AccountCaller, taskId: string): Promise<TaskHold | undefined>;
  /** Reads the terms of a version of a price as the configuration writes them; undefined if they are unknown now. */
  terms(caller: AccountCaller, contract: string, version: number): Promise<unknown>;
  /** Reads the name of a token of the account; empty if it has none or the token has ended. */
  tokenName(caller: AccountCaller, tokenId: string): Promise<string>;
}

const BASES = deriveWords(WireBasis);
/** The names that an estimate has too. */
const FACTS = {
  seconds: 'seconds',
  input_video_seconds: 'inputVideoSeconds',
  images: 'images',
  input_tokens: 'inputTokens',
  output_tokens: 'outputTokens',
  characters: 'characters',
} as const satisfies Readonly<Record<string, keyof PriceFacts>>;

/** Reads the charges of up to 100 tasks of an account by task, within `timeoutMs`. A task without a hold is left out. */
export async function readTaskCharges(
  billing: Pick<BillingClient, 'listCharges'>,
  { accountId, ...call }: AccountCaller,
  taskIds: readonly string[],
  timeoutMs?: number,
): Promise<ReadonlyMap<string, TaskCharge>> {
  if (taskIds.length === 0) return new Map();
  const { charges } = await billing.listCharges({ accountId, taskIds: [...taskIds] }, withDeadline(call, timeoutMs));
  return new Map(charges.map((charge) => [charge.taskId, fromWireCharge(charge)]));
}

export interface BookClients {
  readonly billing: BillingClient;
  readonly accounts: Client<typeof AccountService>;
}

/** Reads the books of accounts. With `every`, the lines of other parties are shown too, as operators see them. */
export function accountBooks({ billing, accounts }: BookClients, lines: 'own' | 'every' = 'own'): AccountBooks {
  return {
    account: async ({ accountId, ...call }) => {
      const { account } = await accounts.getAccount({ id: accountId }, withDeadline(call));
      const { balanceNanos, heldNanos, currency } = requireValue(account);
      return { balanceNanos, heldNanos, currency };
    },
    charges: (caller, taskIds) => readTaskCharges(billing, caller, taskIds),
    hold: async ({ accountId, ...call }, taskId) => {
      const answer = await billing.getHold({ taskId }, withDeadline(call)).catch((error: unknown) => {
        if (isProblem(error, 'hold_not_found')) return undefined;
        throw error;
      });
      return answer?.hold?.accountId === accountId ? fromWireHold(answer, answer.hold, LINES[lines]) : undefined;
    },
    terms: cacheTerms(accounts),
    tokenName: async ({ accountId, ...call }, tokenId) => {
      const answer = await billing.getPrincipal({ tokenId }, withDeadline(call)).catch((error: unknown) => {
        if (isProblem(error)) return undefined;
        throw error;
      });
      return answer?.principal?.accountId === accountId ? answer.principal.name : '';
    },
  };
}

function cacheTerms(accounts: BookClients['accounts']): AccountBooks['terms'] {
  // grows with its terms; by `max` alone it would take the memory of all of them at the start
  const known = new LRUCache<string, { readonly terms: unknown }>({ maxSize: TERMS_MAX, sizeCalculation: () => 1 });
  return async ({ accountId: _, ...call }, contract, version) => {
    const key = `${contract}\n${version}`;
    if (!known.has(key)) {
      const { contracts } = await accounts.listPrices({}, withDeadline(call));
      for (const one of contracts)
        known.set(`${one.key}\n${one.version}`, { terms: JSON.parse(one.termsJson) as unknown });
    }
    return known.get(key)?.terms;
  };
}

function fromWireCharge({ taskId, heldNanos, chargedNanos, basis, currency }: WireCharge): TaskCharge {
  const name = BASES[basis];
  return {
    taskId,
    heldNanos,
    chargedNanos: name === 'deferred' ? undefined : chargedNanos,
    basis: name,
    currency,
  } satisfies MessageMapping<WireCharge, 'accountId' | 'deferredNanos'>;
}

function fromWireHold(
  { settlement, lines, upstreamCost }: GetHoldResponse,
  hold: Hold,
  selectLines: SelectLines,
): TaskHold {
  const basis = settlement && BASES[settlement.basis];
  const isSettled = settlement !== undefined && basis !== 'deferred';
  return {
    basis,
    heldNanos: hold.amountNanos,
    chargedNanos: isSettled ? settlement.amountNanos : undefined,
    settledAt: isSettled ? toMs(settlement.settledAt) : undefined,
    currency: hold.currency,
    contract: hold.contract,
    version: hold.version,
    facts: fromWireFacts(hold.facts),
    heldAt: toMs(hold.placedAt) ?? 0,
    estimatedCostNanos: upstreamCost?.estimatedNanos,
    lines: lines.flatMap((line) => selectLines(line, hold.accountId)),
  };
}

/** Returns the quantities that are not zero, under the names that an estimate has. */
function fromWireFacts(facts: PriceFacts | undefined): Readonly<Record<string, number>> {
  if (facts === undefined) return {};
  return Object.fromEntries(
    Object.entries(FACTS).flatMap(([name, from]) => (facts[from] === 0n ? [] : [[name, Number(facts[from])]])),
  );
}

/** Keys and books end with an id, such as `settle:task_…` and `held:demo`. Books of other parties are left out. */
function selectOwnLine({ eventKey, book, amountNanos, at }: LedgerLine, accountId: string): BookLine[] {
  const [event = ''] = eventKey.split(':', 1);
  const own = `:${accountId}`;
  return book.endsWith(own) ? [{ event, book: book.slice(0, -own.length), amountNanos, at: toMs(at) ?? 0 }] : [];
}

function selectAnyLine({ eventKey, book, amountNanos, at }: LedgerLine): BookLine[] {
  const [event = ''] = eventKey.split(':', 1);
  return [{ event, book, amountNanos, at: toMs(at) ?? 0 }];
}

type SelectLines = (line: LedgerLine, accountId: string) => BookLine[];
const LINES: Readonly<Record<'own' | 'every', SelectLines>> = { own: selectOwnLine, every: selectAnyLine };
