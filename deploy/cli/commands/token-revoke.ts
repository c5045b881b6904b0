import { ACTOR_OPTION, readActor } from '../actor.ts';
import { defineCommand, readSingleId } from '../command.ts';
import { toTokenJson } from '../format/token-record.ts';

export const tokenRevoke = defineCommand({
  summary: 'revoke a token, and all that it made with --with-made',
  words: 'TOKEN_ID',
  options: {
    'with-made': { means: 'revoke all that it made too, directly or through others' },
    actor: ACTOR_OPTION,
  },
  example: 'token revoke tok_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words, options, environment }) => {
    const withMade = options['with-made'] === true;
    const { token, madeRevoked } = await services.accounts.revokeToken({
      id: readSingleId(words, 'token'),
      actor: readActor(options.actor, environment),
      withMade,
    });
    return {
      answer: token === undefined ? {} : { ...toTokenJson(token), ...(withMade && { made_revoked: madeRevoked }) },
    };
  },
});
