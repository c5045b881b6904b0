import { tokenNotFound } from '../src/operations/task-refusals.ts';
import type { TokenReader } from '../src/operations/cached-tokens.ts';

/** Tokens with every right in every account, with the changes of the test. */
export function someTokens(
  known: Readonly<Record<string, Partial<Awaited<ReturnType<TokenReader['findRights']>>>>> = {},
): TokenReader {
  return {
    findRights: async (tokenId, accountId) => {
      const rights = {
        accountId,
        models: ['*'],
        inFlight: undefined,
        wait: { for: 'channels' as const, class: 'standard' as const },
        makers: [],
        expiresAt: undefined,
        ...known[tokenId],
      };
      if (rights.accountId !== accountId) throw tokenNotFound();
      return rights;
    },
  };
}
