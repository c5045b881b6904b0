import type { AccountCaller } from './account-caller.ts';
import type { OperatorClients } from './operator-clients.ts';
import { fromWireToken, toWireLimits } from './tokens-client.ts';
import type { SiteToken, TokenLimits } from './tokens-client.ts';
import { requireValue } from './wire-values.ts';

const DEADLINE_MS = 10_000;

export interface LimitsChange extends TokenLimits {
  readonly tokenId: string;
  readonly actor: string;
  readonly reason: string;
}

/** Replaces the limits of a token, in the name of an operator. */
export type ChangeLimits = (change: LimitsChange, call: Omit<AccountCaller, 'accountId'>) => Promise<SiteToken>;

export function changeTokenLimits({ accounts }: Pick<OperatorClients, 'accounts'>): ChangeLimits {
  return async ({ tokenId: id, actor, reason, ...limits }, { requestId, span }) => {
    const { token } = await accounts.updateTokenLimits(
      { id, actor, reason, ...toWireLimits(limits) },
      { requestId, span, timeoutMs: DEADLINE_MS },
    );
    return fromWireToken(requireValue(token));
  };
}
