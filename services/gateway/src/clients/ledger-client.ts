import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { GetMoneyResponse } from '@reelgate/proto/billing/v1/account_service';
import type { LedgerCheck as WireCheck } from '@reelgate/proto/billing/v1/money';
import type { PriceContract } from '@reelgate/proto/billing/v1/price';
import type { ContractRow, LedgerCheck } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

const DEADLINE_MS = 15_000;
/** A check reads every line. The pages wait for 30 s; a check that takes longer goes on and is shown later. */
const VERIFY_DEADLINE_MS = 25_000;

interface Place {
  readonly priceKey: string;
  readonly currency: string;
  readonly requests: number;
  readonly chargedNanos: bigint;
}

/** The charges for work and its cost at the upstream. */
interface AllMargin extends Place {
  readonly channel: string;
  readonly costNanos: bigint;
  /** The part of the requests and of the cost that upstreams reported. */
  readonly reportedRequests: number;
  readonly reportedCostNanos: bigint;
}

/** The money of all accounts. Amounts are billionths. */
export interface AllMoney {
  readonly held: readonly {
    readonly currency: string;
    readonly balanceNanos: bigint;
    readonly heldNanos: bigint;
    readonly accounts: number;
  }[];
  readonly settled: readonly Place[];
  readonly margins: readonly AllMargin[];
  readonly overruns: number;
  readonly overrunNanos: bigint;
  readonly lapses: number;
  readonly lastCheck: LedgerCheck | undefined;
}

/** The books of all accounts, in the gateway's types. */
export interface Ledger {
  money(period: { readonly from: number; readonly to: number }, call: Caller): Promise<AllMoney>;
  contracts(call: Caller): Promise<readonly ContractRow[]>;
  verify(
    actor: string,
    call: Caller,
  ): Promise<{ readonly ok: boolean; readonly entries: number; readonly faults: readonly string[] }>;
}

export function ledgerClient({ accounts: rpc }: OperatorClients): Ledger {
  return {
    money: async ({ from, to }, caller) =>
      fromWireMoney(
        await rpc.getMoney({ from: timestampFromMs(from), to: timestampFromMs(to) }, withDeadline(caller, DEADLINE_MS)),
      ),
    contracts: async (caller) => {
      const { contracts } = await rpc.listPrices({}, withDeadline(caller, DEADLINE_MS));
      return contracts.map(fromWireContract);
    },
    verify: async (actor, caller) => {
      const answer = await rpc.verifyLedger({ actor }, withDeadline(caller, VERIFY_DEADLINE_MS));
      return { ok: answer.ok, entries: Number(answer.entries), faults: answer.faults };
    },
  };
}

function fromWireMoney({
  held,
  settled,
  margins,
  overruns,
  overrunNanos,
  lapses,
  ...rest
}: GetMoneyResponse): AllMoney {
  return {
    held: held.map(({ accounts, ...sums }) => ({ ...sums, accounts: Number(accounts) })),
    settled: settled.map(({ requests, ...sums }) => ({ ...sums, requests: Number(requests) })),
    margins: margins.map(({ requests, reportedRequests, ...sums }) => ({
      ...sums,
      requests: Number(requests),
      reportedRequests: Number(reportedRequests),
    })),
    overruns: Number(overruns),
    overrunNanos,
    lapses: Number(lapses),
    lastCheck: rest.lastCheck && fromWireCheck(rest.lastCheck),
  } satisfies MessageMapping<GetMoneyResponse>;
}

function fromWireCheck({ at, tookMs, ok, entries, faults, actor }: WireCheck): LedgerCheck {
  return {
    at: toMs(at) ?? 0,
    tookMs: Number(tookMs),
    ok,
    entries: Number(entries),
    faults,
    actor,
  } satisfies MessageMapping<WireCheck>;
}

function fromWireContract({ key, version, termsJson, sinceMs, current }: PriceContract): ContractRow {
  return { key, version, since: Number(sinceMs), isCurrent: current, terms: JSON.parse(termsJson) as unknown };
}
