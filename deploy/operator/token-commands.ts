import type { Token } from '@reelgate/proto/billing/v1/account_service';
import { formatNanos, parseNanos } from './amount.ts';
import { WrongCall, noIds, oneId } from './command.ts';
import type { Command, OwnLimit, Words } from './command.ts';
import { fromNow, isoTime } from './times.ts';

export const tokenCommands: Readonly<Record<string, Command>> = {
  'token create': {
    usage:
      '--account ID --models A,B or "*" [--limit AMOUNT] [--expires 30d] [--name N] [--creates-per-minute N] [--reads-per-minute N] [--calls-per-minute N] [--in-flight N]',
    run: async ({ accounts }, words) => {
      noIds(words);
      const { account, models, limit, expires, name } = words.options;
      if (account === undefined || models === undefined)
        throw new WrongCall('name the account with --account and the models with --models');
      const made = await accounts.createToken({
        accountId: account,
        name: name ?? '',
        models: models
          .split(',')
          .map((model) => model.trim())
          .filter((model) => model !== ''),
        ...(limit === undefined ? {} : { limitNanos: parseNanos(limit) }),
        ...(expires === undefined ? {} : { expiresAt: fromNow(expires) }),
        limits: {
          createsPerMinute: own(words, 'creates-per-minute'),
          readsPerMinute: own(words, 'reads-per-minute'),
          callsPerMinute: own(words, 'calls-per-minute'),
          inFlight: own(words, 'in-flight'),
        },
      });
      return { answer: { token_id: made.token?.id, key: made.key } };
    },
  },
  'token list': {
    usage: '[--account ID]',
    run: async ({ accounts }, words) => {
      noIds(words);
      return { answer: (await accounts.listTokens({ accountId: words.options.account ?? '' })).tokens.map(shown) };
    },
  },
  'token revoke': {
    usage: 'TOKEN_ID',
    run: async ({ accounts }, words) => {
      const { token } = await accounts.revokeToken({ id: oneId(words, 'token') });
      return { answer: token === undefined ? {} : shown(token) };
    },
  },
};

/** Zero is the configured number. */
function own({ options }: Words, name: OwnLimit): number {
  const text = options[name];
  if (text === undefined) return 0;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new WrongCall(`${text} is no number for --${name}; write it like 600`);
  return Number(text);
}

function shown(token: Token): object {
  return {
    token_id: token.id,
    account: token.accountId,
    name: token.name,
    models: token.models,
    limit: token.limitNanos === undefined ? undefined : formatNanos(token.limitNanos),
    used: formatNanos(token.usedNanos),
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    revoked_at: isoTime(token.revokedAt),
    creates_per_minute: token.limits?.createsPerMinute || undefined,
    reads_per_minute: token.limits?.readsPerMinute || undefined,
    calls_per_minute: token.limits?.callsPerMinute || undefined,
    in_flight: token.limits?.inFlight || undefined,
  };
}
