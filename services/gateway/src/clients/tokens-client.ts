import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret } from '@reelgate/platform/secret';
import type {
  AccountService,
  CreateTokenRequestSchema,
  RevokeTokenRequestSchema,
  Token,
} from '@reelgate/proto/billing/v1/account_service';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { requireValue } from './wire-values.ts';

/** A new token, and the token that makes it: a token of the same account, which billing checks. */
export type NewToken = Omit<Exclude<MessageInitShape<typeof CreateTokenRequestSchema>, Message>, 'accountId'>;

/** The tokens of an account. The currency is the currency of the account. */
export interface SiteTokens {
  list(caller: AccountCaller): Promise<{ readonly tokens: readonly Token[]; readonly currency: string }>;
  create(
    caller: AccountCaller,
    token: NewToken,
  ): Promise<{ readonly token: Token; readonly key: Secret; readonly currency: string }>;
  revoke(
    caller: AccountCaller,
    revocation: MessageInitShape<typeof RevokeTokenRequestSchema>,
  ): Promise<{ readonly token: Token; readonly madeRevoked: number; readonly currency: string }>;
}

export function tokensClient(rpc: Client<typeof AccountService>): SiteTokens {
  const readCurrency = async ({ accountId, ...call }: AccountCaller): Promise<string> =>
    requireValue((await rpc.getAccount({ id: accountId }, withDeadline(call))).account).currency;
  return {
    list: async (caller) => {
      const { accountId, ...call } = caller;
      const [currency, { tokens }] = await Promise.all([
        readCurrency(caller),
        rpc.listTokens({ accountId }, withDeadline(call)),
      ]);
      return { tokens, currency };
    },
    create: async (caller, settings) => {
      const { accountId, ...call } = caller;
      // first: the answer has the key, and no failure may lose it
      const currency = await readCurrency(caller);
      const { token, key } = await rpc.createToken({ ...settings, accountId }, withDeadline(call));
      return { token: requireValue(token), key: new Secret(key), currency };
    },
    revoke: async (caller, revocation) => {
      const { accountId: _, ...call } = caller;
      const currency = await readCurrency(caller);
      const { token, madeRevoked } = await rpc.revokeToken(revocation, withDeadline(call));
      return { token: requireValue(token), madeRevoked, currency };
    },
  };
}
