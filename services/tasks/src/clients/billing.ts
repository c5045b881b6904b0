import type { Client } from '@reelgate/platform/rpc/service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { PriceFacts } from '../domain/price-facts.ts';
import type { Usage } from '../domain/task.ts';

export interface Quote {
  readonly amountNanos: bigint;
  readonly currency: string;
  readonly contract: string;
  readonly version: number;
}

/** A request to place a hold. */
export interface HoldOrder {
  readonly taskId: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly facts: PriceFacts;
}

/**
 * What this service needs from billing. Each call names the task, so repeating it is harmless. A signal passes the
 * deadline of the caller on.
 */
export interface Billing {
  quote(accountId: string, facts: PriceFacts, signal?: AbortSignal): Promise<Quote>;
  /** Throws if a hold could not be placed now. Moves no money. */
  checkHold(hold: Omit<HoldOrder, 'taskId'>, signal?: AbortSignal): Promise<void>;
  placeHold(hold: HoldOrder, signal?: AbortSignal): Promise<void>;
  extendHold(taskId: string, facts: PriceFacts, signal?: AbortSignal): Promise<void>;
  releaseHold(taskId: string): Promise<void>;
  /** `deferred`: the usage is far above the hold, nothing was charged, and a person must decide. */
  settle(taskId: string, usage: Usage | undefined, confirmed?: boolean): Promise<'settled' | 'deferred'>;
}

export function billingClient(rpc: Client<typeof BillingService>): Billing {
  return {
    quote: async (accountId, facts, signal) => {
      const { quote } = await rpc.quotePrice({ accountId, facts: toWireFacts(facts) }, { signal });
      return {
        amountNanos: quote?.amountNanos ?? 0n,
        currency: quote?.currency ?? '',
        contract: quote?.contract ?? '',
        version: quote?.version ?? 0,
      };
    },
    checkHold: async ({ accountId, tokenId, facts }, signal) => {
      await rpc.checkHold({ accountId, tokenId, facts: toWireFacts(facts) }, { signal });
    },
    placeHold: async ({ taskId, accountId, tokenId, facts }, signal) => {
      await rpc.placeHold({ taskId, accountId, tokenId, facts: toWireFacts(facts) }, { signal });
    },
    extendHold: async (taskId, facts, signal) => {
      await rpc.extendHold({ taskId, facts: toWireFacts(facts) }, { signal });
    },
    releaseHold: async (taskId) => {
      await rpc.releaseHold({ taskId });
    },
    settle: async (taskId, usage, confirmed = false) => {
      const { settlement } = await rpc.settleHold({
        taskId,
        confirmed,
        ...(usage?.totalSeconds === undefined ? {} : { totalSeconds: BigInt(usage.totalSeconds) }),
        ...(usage?.promptTokens === undefined ? {} : { inputTokens: BigInt(usage.promptTokens) }),
        ...(usage?.completionTokens === undefined ? {} : { outputTokens: BigInt(usage.completionTokens) }),
      });
      return settlement?.basis === Basis.DEFERRED ? 'deferred' : 'settled';
    },
  };
}

function toWireFacts(facts: PriceFacts) {
  return {
    priceKey: facts.priceKey,
    resolution: facts.resolution,
    seconds: BigInt(facts.seconds),
    inputVideoSeconds: BigInt(facts.inputVideoSeconds),
    images: BigInt(facts.images),
  };
}
