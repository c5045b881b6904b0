import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { TokenClass, TokenWait as WireWait } from '@reelgate/proto/billing/v1/token_queue';
import type { TokenWait } from '../domain/wait-plan.ts';
import { refuse } from '../refusals.ts';

const DEADLINE_MS = 5000;
const WAITS = deriveWords(WireWait, 'channels');
const CLASSES = deriveWords(TokenClass, 'standard');

/** An ancestor of a token. */
export interface TokenMaker {
  readonly tokenId: string;
  /** The most tasks that it and its descendants may have in flight. Undefined for the configured limit. */
  readonly inFlight: number | undefined;
}

/** The rights of a token, according to billing. */
export interface TokenRights {
  readonly accountId: string;
  /** The models that the token may use; `*` is every model. */
  readonly models: readonly string[];
  /** The most tasks that the token may have in flight. Undefined for the configured limit. */
  readonly inFlight: number | undefined;
  readonly wait: TokenWait;
  /** The label of its orders, unless the request names another label. Undefined if the token has no label. */
  readonly label?: string | undefined;
  /** The nearest first. */
  readonly makers: readonly TokenMaker[];
  /** Milliseconds since 1970. Undefined if it never expires. */
  readonly expiresAt: number | undefined;
}

/** Finds the rights of a token by its id. Throws for a token that is unknown, revoked or expired. */
export type FindToken = (tokenId: string) => Promise<TokenRights>;

export function billingTokens(rpc: Client<typeof BillingService>): FindToken {
  return async (tokenId) => {
    const { principal } = await rpc.getPrincipal({ tokenId }, { timeoutMs: DEADLINE_MS });
    if (principal === undefined) throw refuse('internal_error');
    const { accountId, models, limits, queue, label, makers, expiresAt } = principal;
    return {
      accountId,
      models,
      inFlight: limits?.inFlight || undefined,
      wait: {
        for: WAITS[queue?.wait ?? WireWait.UNSPECIFIED],
        class: CLASSES[queue?.class ?? TokenClass.UNSPECIFIED],
      },
      label: label || undefined,
      makers: makers.map((maker) => ({ tokenId: maker.tokenId, inFlight: maker.limits?.inFlight || undefined })),
      expiresAt: expiresAt === undefined ? undefined : timestampMs(expiresAt),
    };
  };
}
