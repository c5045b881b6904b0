import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import { ACT_PREFIX, amountDetail, tokenActor } from '../../domain/act.ts';
import type { Act } from '../../domain/act.ts';
import { findExcess } from '../../domain/token-excess.ts';
import { findDisabledReason, readHint } from '../../domain/token.ts';
import type { Token, TokenLimits, TokenRights } from '../../domain/token.ts';
import {
  badField,
  tokenDisabled,
  tokensNotAllowed,
  tooManyMakers,
  tooManyTokens,
  unknownToken,
} from '../../billing-refusals.ts';
import type { MadeTokens, NewToken } from '../../store/tokens/token-store.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/read-accounts.ts';

export const KEY_PREFIX = 'rg';
export const KEY_BYTES = 24;

/** The largest numbers of tokens that the tokens of an account can create: valid ones, and all together. */
const LIVE_MADE_MAX = 500;
const MADE_MAX = 10_000;
/** Each use of a token counts against this many other tokens at most. */
const MAKERS_MAX = 8;

export interface TokenRequest extends TokenRights {
  readonly accountId: string;
  readonly name: string;
  readonly label: string;
  /** The token that creates it, undefined if an operator does. */
  readonly makerId: string | undefined;
  /** The limits that apply where the maker has no limit of its own, as far as they are known. */
  readonly configuredLimits: TokenLimits;
  readonly actor: string;
}

/**
 * Creates a token. Its key is in this result and is not stored. A token cannot give another token a right that it does
 * not have itself.
 */
export async function createToken(
  deps: BillingDeps,
  { makerId, configuredLimits, actor, ...request }: TokenRequest,
  signal?: AbortSignal,
): Promise<{ readonly token: Token; readonly key: Secret }> {
  const now = deps.clock.now();
  if (request.expiresAt !== undefined && request.expiresAt <= now)
    throw badField('expires_at', 'must be in the future');
  await findAccount(deps, request.accountId, 'account_id');
  const key = newKey(KEY_PREFIX, KEY_BYTES, deps.random);
  const token: Token = {
    ...request,
    id: deps.newId('token'),
    hint: readHint(key),
    used: 0n,
    createdAt: now,
    revokedAt: undefined,
    madeByTokenId: makerId,
  };
  const actBy = (by: string): Act => creation(token, { id: deps.newId(ACT_PREFIX), actor: by });
  signal?.throwIfAborted();
  const made: NewToken = { token, keyHashes: deps.hashesOf(key), origin: undefined };
  const isMade =
    makerId === undefined
      ? await deps.tokens.insert(made, actBy(actor))
      : await deps.tokens.insertBy(makerId, made, (maker, count) =>
          actBy(tokenActor(requireMaker({ token, configuredLimits }, maker, count))),
        );
  if (!isMade) throw new Error('a new key is taken already: the source of randomness is broken');
  return { token, key: new Secret(key) };
}

/** Returns the maker, or throws a refusal. The limits of the maker bound it and all its descendants together. */
function requireMaker(
  { token, configuredLimits }: { readonly token: Token; readonly configuredLimits: TokenLimits },
  maker: Token | undefined,
  made: MadeTokens,
): Token {
  if (maker === undefined) throw unknownToken('maker_token_id');
  const disabled = findDisabledReason(maker, token.createdAt);
  if (disabled !== undefined) throw tokenDisabled(disabled);
  if (maker.tokens !== 'write') throw tokensNotAllowed();
  const excess = findExcess(token, maker, configuredLimits);
  if (excess !== undefined) throw badField(excess.field, excess.message);
  if (made.live >= LIVE_MADE_MAX) throw tooManyTokens(`has ${LIVE_MADE_MAX} valid tokens; revoke one first`);
  if (made.makersOfMaker >= MAKERS_MAX) throw tooManyMakers(MAKERS_MAX);
  if (made.all >= MADE_MAX) throw tooManyTokens(`has made ${MADE_MAX} tokens; ask the operator for more`);
  return maker;
}

function creation(token: Token, { id, actor }: { readonly id: string; readonly actor: string }): Act {
  return {
    id,
    actor,
    at: token.createdAt,
    action: 'token_created',
    subject: token.id,
    reason: '',
    detail: {
      account: token.accountId,
      name: token.name,
      models: token.models,
      limit: amountDetail(token.limit),
      confirm_above: amountDetail(token.confirmAbove),
      webhooks: token.webhooks,
      tokens: token.tokens,
      queue: { ...token.queue },
      label: token.label || undefined,
      made_by: token.madeByTokenId,
    },
  };
}
