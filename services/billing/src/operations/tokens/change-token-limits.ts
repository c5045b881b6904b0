import { ACT_PREFIX, amountDetail } from '../../domain/act.ts';
import type { Act, ActDetail } from '../../domain/act.ts';
import type { ChangeableLimits, Token } from '../../domain/token.ts';
import { unknownToken } from '../../billing-refusals.ts';
import type { NewLimits } from '../../store/tokens/token-store.ts';
import type { BillingDeps } from '../deps.ts';

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
  const act = {
    id: newId(ACT_PREFIX),
    at: clock.now(),
    actor,
    action: 'token_limits_changed',
    subject: id,
    reason,
  } as const;
  const token = await tokens.changeLimits(id, { limit, limits, queue, label, confirmAbove }, (before): Act => {
    const { accountId, name } = before;
    const after = describeLimits({
      ...{ limit, limits },
      queue: queue ?? before.queue,
      label: label ?? before.label,
      confirmAbove: confirmAbove === 'never' ? undefined : (confirmAbove ?? before.confirmAbove),
    });
    return { ...act, detail: { account: accountId, name, ...after, before: describeLimits(before) } };
  });
  if (token === undefined) throw unknownToken('id');
  announceToken(id);
  return token;
}

/** As the configuration names them. What the token does not have is left out. */
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
