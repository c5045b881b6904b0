import { ACTOR_OPTION, readActor } from '../actor.ts';
import { WrongCall, defineCommand, readSingleId } from '../command.ts';
import { parseNanos } from '../format/amount.ts';
import { OWN_LIMIT_OPTIONS, ownLimits } from '../format/own-limits.ts';
import { toTokenJson } from '../format/token-record.ts';

export const tokenLimit = defineCommand({
  summary: 'replace the limits of a token; one that is left out is removed',
  words: 'TOKEN_ID',
  options: {
    limit: { value: 'AMOUNT', means: 'the most that the token may spend in total' },
    ...OWN_LIMIT_OPTIONS,
    none: { means: 'remove every limit' },
    reason: { value: 'TEXT', means: 'the reason, for the record' },
    actor: ACTOR_OPTION,
  },
  example: 'token limit tok_06f2k3h8v0s7m1q9c4x5b2n6d0 --limit 20.00 --in-flight 5',
  run: async ({ services, words, options, environment }) => {
    const { limit, reason = '', none = false } = options;
    const limits = ownLimits(options);
    const isNamed = limit !== undefined || Object.values(limits).some((own) => own > 0);
    if (isNamed === none) throw new WrongCall('name the limits of the token, or --none to remove them');
    const { token } = await services.accounts.updateTokenLimits({
      id: readSingleId(words, 'token'),
      ...(limit === undefined ? {} : { limitNanos: parseNanos(limit) }),
      limits,
      actor: readActor(options.actor, environment),
      reason,
    });
    return { answer: token === undefined ? {} : toTokenJson(token) };
  },
});
