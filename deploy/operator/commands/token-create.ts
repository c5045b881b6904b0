import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { WrongCall, defineCommand, noWords } from '../command.ts';
import { parseNanos } from '../format/amount.ts';
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
    'creates-per-minute': { value: 'N', means: "the token's own rate limit of creates" },
    'reads-per-minute': { value: 'N', means: "the token's own rate limit of reads" },
    'calls-per-minute': { value: 'N', means: "the token's own rate limit of synchronous calls" },
    'in-flight': { value: 'N', means: 'the most unfinished tasks of the token' },
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
  },
  example: 'token create --account demo --models "*" --limit 5.00 --expires 30d',
  run: async ({ services, words, options }) => {
    noWords(words);
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
      limits: {
        createsPerMinute: ownLimit('creates-per-minute', options['creates-per-minute']),
        readsPerMinute: ownLimit('reads-per-minute', options['reads-per-minute']),
        callsPerMinute: ownLimit('calls-per-minute', options['calls-per-minute']),
        inFlight: ownLimit('in-flight', options['in-flight']),
      },
      webhooks: WEBHOOK_RIGHTS[options.webhooks ?? ''] ?? WebhookRight.UNSPECIFIED,
      tokens: TOKEN_RIGHTS[options.tokens ?? ''] ?? TokenRight.UNSPECIFIED,
    });
    return { answer: { token_id: made.token?.id, key: made.key } };
  },
});

/** Zero means the configured limit. */
function ownLimit(name: string, text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new WrongCall(`--${name} takes a whole number such as 600, not ${text}`);
  return Number(text);
}
