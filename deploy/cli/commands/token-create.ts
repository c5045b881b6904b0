import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { ACTOR_OPTION, readActor } from '../actor.ts';
import { defineCommand, assertNoWords } from '../command.ts';
import { parseNanos } from '../format/amount.ts';
import { OWN_LIMIT_OPTIONS, ownLimits } from '../format/own-limits.ts';
import { fromNow } from '../format/times.ts';
import { TOKEN_RIGHTS, WEBHOOK_RIGHTS } from '../format/token-record.ts';

export const tokenCreate = defineCommand({
  summary: 'make a token and show its key once',
  words: '',
  options: {
    account: { value: 'ID', means: 'the account that pays', needed: true },
    models: { value: 'A,B', means: 'the models that the token may use; "*" is every model', needed: true },
    name: { value: 'TEXT', means: 'a name for the token' },
    limit: { value: 'AMOUNT', means: 'the most that the token may spend' },
    expires: { value: 'DURATION', means: 'the lifetime from now, such as 30d' },
    ...OWN_LIMIT_OPTIONS,
    webhooks: {
      value: 'RIGHT',
      means: 'what the token may do with webhooks; default: write',
      choices: Object.keys(WEBHOOK_RIGHTS),
    },
    tokens: {
      value: 'RIGHT',
      means: 'what the token may do with the tokens of its account; default: none',
      choices: Object.keys(TOKEN_RIGHTS),
    },
    actor: ACTOR_OPTION,
  },
  example: 'token create --account demo --models "*" --limit 5.00 --expires 30d',
  run: async ({ services, words, options, environment }) => {
    assertNoWords(words);
    const { account = '', models = '', limit, expires, name = '' } = options;
    const made = await services.accounts.createToken({
      accountId: account,
      name,
      models: models
        .split(',')
        .map((model) => model.trim())
        .filter((model) => model !== ''),
      ...(limit === undefined ? {} : { limitNanos: parseNanos(limit) }),
      ...(expires === undefined ? {} : { expiresAt: fromNow(expires) }),
      limits: ownLimits(options),
      webhooks: WEBHOOK_RIGHTS[options.webhooks ?? ''] ?? WebhookRight.UNSPECIFIED,
      tokens: TOKEN_RIGHTS[options.tokens ?? ''] ?? TokenRight.UNSPECIFIED,
      actor: readActor(options.actor, environment),
    });
    return { answer: { token_id: made.token?.id, key: made.key } };
  },
});
