import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { AccountService, TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { CreateTokenRequest, RevokeTokenRequest, Token } from '@reelgate/proto/billing/v1/account_service';

/** The tokens of accounts, in memory. It records what makes and revokes them. */
export interface FakeAccounts {
  readonly client: Pick<Client<typeof AccountService>, 'listTokens' | 'createToken' | 'revokeToken'>;
  readonly creates: CreateTokenRequest[];
  readonly revocations: RevokeTokenRequest[];
  readonly tokens: Map<string, Token>;
  /** Thrown by the next change. */
  refusal: Error | undefined;
  /** Told by a revocation that ends what the token made too. */
  madeRevoked: number;
}

export function fakeAccounts(): FakeAccounts {
  const fake: Omit<FakeAccounts, 'client'> = {
    creates: [],
    revocations: [],
    tokens: new Map(),
    refusal: undefined,
    madeRevoked: 0,
  };
  const { creates, revocations, tokens } = fake;
  const refuse = (): void => {
    const { refusal } = fake;
    fake.refusal = undefined;
    if (refusal !== undefined) throw refusal;
  };
  const methods = partialService(AccountService, {
    listTokens: async ({ accountId }) => ({
      tokens: [...tokens.values()].filter((token) => token.accountId === accountId),
    }),
    createToken: async (request) => {
      refuse();
      creates.push(request);
      const { accountId, name, models, webhooks, tokens: right, makerTokenId: madeByTokenId } = request;
      const token = create(TokenSchema, {
        id: `token_${tokens.size + 1}`,
        createdAt: timestampFromMs(0),
        ...{ accountId, name, models, webhooks, tokens: right, madeByTokenId },
      });
      tokens.set(token.id, token);
      return { token, key: `rg_key-of-${name}` };
    },
    revokeToken: async (request) => {
      refuse();
      revocations.push(request);
      const token = tokens.get(request.id);
      if (token === undefined)
        throw new Problem({ kind: 'not_found', reason: 'token_not_found', message: 'there is no such token' });
      return {
        token: { ...token, revokedAt: timestampFromMs(1) },
        madeRevoked: request.withMade ? fake.madeRevoked : 0,
      };
    },
  });
  const { listTokens, createToken, revokeToken } = directClient(AccountService, methods, aCaller());
  return Object.assign(fake, { client: { listTokens, createToken, revokeToken } });
}
