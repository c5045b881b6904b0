import { tokenNotFound } from '../src/operations/task-refusals.ts';
import type { Tokens } from '../src/operations/cached-tokens.ts';

/** Tokens that may do everything, in every account, but for what a test says of one. */
export function someTokens(
  known: Readonly<Record<string, Partial<Awaited<ReturnType<Tokens['of']>>>>> = {},
): Pick<Tokens, 'of'> {
  return {
    of: async (tokenId, accountId) => {
      const rights = { accountId, models: ['*'], inFlight: undefined, expiresAt: undefined, ...known[tokenId] };
      if (rights.accountId !== accountId) throw tokenNotFound();
      return rights;
    },
  };
}
