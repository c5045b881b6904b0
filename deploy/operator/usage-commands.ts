import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@reelgate/platform/clock';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import type { Usage } from '@reelgate/proto/billing/v1/usage_service';
import { formatNanos } from './amount.ts';
import { WrongCall, oneId } from './command.ts';
import type { Command } from './command.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_OTHERWISE = 30;
const GROUPS: Readonly<Partial<Record<string, UsageGroup>>> = {
  model: UsageGroup.MODEL,
  day: UsageGroup.DAY,
  token: UsageGroup.TOKEN,
};

export const usageCommands: Readonly<Record<string, Command>> = {
  'usage show': {
    usage: 'ACCOUNT [--from 2026-11-01] [--to 2026-11-30] [--by model, day or token]',
    run: async ({ usage }, words) => {
      const accountId = oneId(words, 'account');
      const { from, to, by = 'day' } = words.options;
      const groupBy = GROUPS[by];
      if (groupBy === undefined) throw new WrongCall(`${by} is none of ${Object.keys(GROUPS).join(', ')}`);
      const end = to === undefined ? today() + DAY_MS : day(to) + DAY_MS;
      const begin = from === undefined ? end - DAYS_OTHERWISE * DAY_MS : day(from);
      const { groups, total, currency } = await usage.getUsage({
        accountId,
        from: timestampFromMs(begin),
        to: timestampFromMs(end),
        groupBy,
      });
      return {
        answer: {
          account: accountId,
          currency,
          data: groups.map((sum) => ({ [by]: sum.key, ...(sum.name === '' ? {} : { name: sum.name }), ...shown(sum) })),
          total: total === undefined ? {} : shown(total),
        },
      };
    },
  },
};

function shown({ amountNanos, requests, seconds, inputTokens, outputTokens, images, characters }: Usage): object {
  return {
    amount: formatNanos(amountNanos),
    requests: Number(requests),
    seconds: Number(seconds),
    input_tokens: Number(inputTokens),
    output_tokens: Number(outputTokens),
    images: Number(images),
    characters: Number(characters),
  };
}

function today(): number {
  const now = systemClock.now();
  return now - (now % DAY_MS);
}

/** The midnight at which a day begins, UTC. */
function day(text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, text.length) !== text)
    throw new WrongCall(`${text} is no day; write it like 2026-11-30`);
  return ms;
}
