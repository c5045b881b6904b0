import { ACTOR_OPTION, actorOf } from '../actor.ts';
import { defineCommand, oneId } from '../command.ts';
import { shownToken } from '../format/token-record.ts';

export const tokenRevoke = defineCommand({
  summary: 'revoke a token',
  words: 'TOKEN_ID',
  options: { actor: ACTOR_OPTION },
  example: 'token revoke tok_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words, options, environment }) => {
    const { token } = await services.accounts.revokeToken({
      id: oneId(words, 'token'),
      actor: actorOf(options.actor, environment),
    });
    return { answer: token === undefined ? {} : shownToken(token) };
  },
});
