import { ACT_PREFIX, amountDetail } from '../../domain/act.ts';
import type { Act } from '../../domain/act.ts';
import type { Nanos } from '../../domain/money.ts';
import type { ChangeableLimits, Token, TokenLimits } from '../../domain/token.ts';
import { unknownToken } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface LimitsChange {
  readonly id: string;
  /** The most that the token may spend in total; undefined: as much as the account has. */
  readonly limit: Nanos | undefined;
  readonly limits: TokenLimits;
  readonly actor: string;
  readonly reason: string;
}

/** Replaces the spending limit and the own limits of a token, and announces it to the caches of principals. */
export async function changeTokenLimits(
  { tokens, clock, newId, announceToken }: BillingDeps,
  { id, limit, limits, actor, reason }: LimitsChange,
): Promise<Token> {
  const act = {
    id: newId(ACT_PREFIX),
    at: clock.now(),
    actor,
    action: 'token_limits_changed',
    subject: id,
    reason,
  } as const;
  const token = await tokens.changeLimits(id, { limit, limits }, (before): Act => {
    const { accountId, name } = before;
    return {
      ...act,
      detail: { account: accountId, name, ...describeLimits({ limit, limits }), before: describeLimits(before) },
    };
  });
  if (token === undefined) throw unknownToken('id');
  announceToken(id);
  return token;
}

/** As the configuration names them. What the token does not have is left out. */
function describeLimits({ limit, limits }: ChangeableLimits): Readonly<Record<string, string | number | undefined>> {
  return {
    limit: amountDetail(limit),
    creates_per_minute: limits.createsPerMinute,
    reads_per_minute: limits.readsPerMinute,
    calls_per_minute: limits.callsPerMinute,
    in_flight: limits.inFlight,
  };
}
