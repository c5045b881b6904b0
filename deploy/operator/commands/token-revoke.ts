import { defineCommand, oneId } from '../command.ts';
import { shownToken } from '../format/token-record.ts';

export const tokenRevoke = defineCommand({
  summary: 'revoke a token',
  words: 'TOKEN_ID',
  options: {},
  example: 'token revoke tok_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    const { token } = await services.accounts.revokeToken({ id: oneId(words, 'token') });
    return { answer: token === undefined ? {} : shownToken(token) };
  },
});
