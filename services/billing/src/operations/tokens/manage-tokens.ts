import type { NewId } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import type { Act } from '@reelgate/proto/access/v1/act';
import { amountDetail, tokenActor } from '../../domain/act.ts';
import type { ActDetail } from '../../domain/act.ts';
import { newAct } from '../../store/acts/act-store.ts';
import { findExcess } from '../../domain/token-excess.ts';
import { findDisabledReason, readHint } from '../../domain/token.ts';
import type { Token, TokenLimits, TokenRights, ChangeableLimits } from '../../domain/token.ts';
import {
  badField,
  tokenDisabled,
  tokensNotAllowed,
  tooManyMakers,
  tooManyTokens,
  unknownToken,
} from '../../billing-refusals.ts';
import type { MadeTokens, NewToken, NewLimits, RevocationParties } from '../../store/tokens/token-store.ts';
import type { BillingDeps } from '../deps.ts';
import { findAccount } from '../accounts/accounts.ts';
import { newTokenKey } from './token-keys.ts';

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
  const key = newTokenKey(deps.random);
  const token: Token = {
    ...request,
    id: deps.newId('token'),
    hint: readHint(key),
    used: 0n,
    createdAt: now,
    revokedAt: undefined,
    madeByTokenId: makerId,
  };
  const actBy = (by: string): Act => newCreationAct(deps.newId, token, by);
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

function newCreationAct(newId: NewId, token: Token, actor: string): Act {
  return newAct(newId, {
    ...{ at: token.createdAt, actor, action: 'token_created', subject: token.id },
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
  });
}

export interface LimitsChange extends NewLimits {
  readonly id: string;
  readonly actor: string;
  readonly reason: string;
}

/**
 * Replaces the limits of a token, and its label and the way it waits if they are given, and announces it to the caches of
 * principals.
 */
export async function changeTokenLimits(
  { tokens, clock, newId, announceToken }: BillingDeps,
  { id, limit, limits, queue, label, confirmAbove, actor, reason }: LimitsChange,
): Promise<Token> {
  const act = { at: clock.now(), actor, action: 'token_limits_changed', subject: id, reason } as const;
  const token = await tokens.changeLimits(id, { limit, limits, queue, label, confirmAbove }, (before): Act => {
    const { accountId, name } = before;
    const after = describeLimits({
      ...{ limit, limits },
      queue: queue ?? before.queue,
      label: label ?? before.label,
      confirmAbove: confirmAbove === 'never' ? undefined : (confirmAbove ?? before.confirmAbove),
    });
    return newAct(newId, { ...act, detail: { account: accountId, name, ...after, before: describeLimits(before) } });
  });
  if (token === undefined) throw unknownToken('id');
  announceToken(id);
  return token;
}

/** The limits that the token has, by the names of the configuration. */
function describeLimits({
  limit,
  limits,
  queue,
  label,
  confirmAbove,
}: ChangeableLimits & Pick<Token, 'label'>): ActDetail {
  return {
    limit: amountDetail(limit),
    creates_per_minute: limits.createsPerMinute,
    reads_per_minute: limits.readsPerMinute,
    calls_per_minute: limits.callsPerMinute,
    in_flight: limits.inFlight,
    queue: { ...queue },
    label: label || undefined,
    confirm_above: amountDetail(confirmAbove),
  };
}

export interface RevokeRequest {
  readonly id: string;
  /** The token that revokes it, undefined if an operator does. */
  readonly revokerId: string | undefined;
  readonly actor: string;
  /** True if all its descendants end with it. */
  readonly withMade: boolean;
}

/**
 * Ends a token forever, and announces it to the caches of principals. Its descendants end with it, or stay valid within
 * its limits. A repeat ends the tokens that an earlier call left.
 */
export async function revokeToken(
  { tokens, clock, newId, announceToken }: BillingDeps,
  { id, revokerId, actor, withMade }: RevokeRequest,
): Promise<{ readonly token: Token; readonly madeRevoked: number }> {
  const at = clock.now();
  const revoked = await tokens.revoke({ id, at, revokerId, withMade }, (revoking) => {
    const revoker = requireRevoker(revoking, revokerId, at);
    return (token) =>
      newAct(newId, {
        ...{ at, actor: revoker === undefined ? actor : tokenActor(revoker) },
        ...{ action: 'token_revoked', subject: token.id },
        detail: {
          account: token.accountId,
          name: token.name,
          revoked_by: revokerId,
          with_maker: token.id === id ? undefined : id,
        },
      });
  });
  if (revoked === undefined) throw unknownToken('id');
  for (const endedId of revoked.endedIds) announceToken(endedId);
  const { token, endedIds } = revoked;
  if (!endedIds.includes(id)) announceToken(id);
  return { token, madeRevoked: endedIds.filter((endedId) => endedId !== id).length };
}

/**
 * Returns the revoker, or throws a refusal. For a revoker, only itself and its descendants exist. It may always revoke
 * itself.
 */
function requireRevoker(
  { token, makers, revoker }: RevocationParties,
  revokerId: string | undefined,
  now: number,
): Token | undefined {
  if (revokerId === undefined) return undefined;
  if (revoker === undefined) throw unknownToken('revoker_token_id');
  const disabled = findDisabledReason(revoker, now);
  if (disabled !== undefined) throw tokenDisabled(disabled);
  if (revoker.id === token.id) return revoker;
  if (makers.every((maker) => maker.id !== revoker.id)) throw unknownToken('id');
  if (revoker.tokens !== 'write') throw tokensNotAllowed();
  return revoker;
}
