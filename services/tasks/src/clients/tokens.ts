import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import type { Client } from '@reelgate/platform/rpc/service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';

const DEADLINE_MS = 5000;

/** What a token may do, as billing has it. */
export interface TokenRights {
  readonly accountId: string;
  /** Models that it may use; `*` is every model. */
  readonly models: readonly string[];
  /** Tasks that it may have in flight; undefined: the configured number. */
  readonly inFlight: number | undefined;
  /** Milliseconds since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
}

/** Finds the rights of a token by its id; refuses a token that is unknown or has ended. */
export type FindToken = (tokenId: string) => Promise<TokenRights>;

export function billingTokens(rpc: Pick<Client<typeof BillingService>, 'getPrincipal'>): FindToken {
  return async (tokenId) => {
    const { principal } = await rpc.getPrincipal({ tokenId }, { timeoutMs: DEADLINE_MS });
    if (principal === undefined)
      throw new Problem({ kind: 'internal', reason: 'internal_error', message: 'something went wrong here' });
    const { accountId, models, limits, expiresAt } = principal;
    return {
      accountId,
      models,
      inFlight: limits?.inFlight || undefined,
      expiresAt: expiresAt === undefined ? undefined : timestampMs(expiresAt),
    };
  };
}
