import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './operator-clients.ts';
import { fromWireToken, toWireLimits } from './tokens-client.ts';
import type { SiteToken, TokenLimits } from './tokens-client.ts';
import { requireValue } from './wire-values.ts';

export interface LimitsChange extends TokenLimits {
  readonly tokenId: string;
  readonly actor: string;
  readonly reason: string;
}

/** Replaces the limits of a token, in the name of an operator. */
export type ChangeLimits = (change: LimitsChange, caller: Caller) => Promise<SiteToken>;

export function changeTokenLimits({ accounts }: OperatorClients): ChangeLimits {
  return async ({ tokenId: id, actor, reason, ...limits }, caller) => {
    const { token } = await accounts.updateTokenLimits(
      { id, actor, reason, ...toWireLimits(limits) },
      withDeadline(caller),
    );
    return fromWireToken(requireValue(token));
  };
}
