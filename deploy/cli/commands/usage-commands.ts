import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@reelgate/platform/clock';
import { UsageGroup } from '@reelgate/proto/billing/v1/usage_service';
import type { Usage } from '@reelgate/proto/billing/v1/usage_service';
import { WrongCall, defineCommand, readSingleId } from '../command.ts';
import { formatNanos } from '../format/quantities.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
const GROUPS: Readonly<Partial<Record<string, UsageGroup>>> = {
  model: UsageGroup.MODEL,
  day: UsageGroup.DAY,
  token: UsageGroup.TOKEN,
};

export const usageShow = defineCommand({
  summary: 'show the charges of an account',
  words: 'ACCOUNT',
  options: {
    from: { value: 'DAY', means: `the first day; default: ${DAYS_DEFAULT} days before the last` },
    to: { value: 'DAY', means: 'the last day, inclusive; default: today' },
    by: { value: 'GROUP', means: 'the group of each line; default: day', choices: Object.keys(GROUPS) },
  },
  example: 'usage show demo --from 2026-11-01 --to 2026-11-30 --by model',
  run: async ({ services, words, options }) => {
    const accountId = readSingleId(words, 'account');
    const { from, to, by = 'day' } = options;
    const end = to === undefined ? today() + DAY_MS : parseDay(to) + DAY_MS;
    const begin = from === undefined ? end - DAYS_DEFAULT * DAY_MS : parseDay(from);
    const { groups, total, currency } = await services.usage.getUsage({
      accountId,
      from: timestampFromMs(begin),
      to: timestampFromMs(end),
      groupBy: GROUPS[by] ?? UsageGroup.DAY,
    });
    return {
      answer: {
        account: accountId,
        currency,
        data: groups.map((sum) => ({
          [by]: sum.key,
          ...(sum.name === '' ? {} : { name: sum.name }),
          ...toUsageJson(sum),
        })),
        total: total === undefined ? {} : toUsageJson(total),
      },
    };
  },
});

function toUsageJson({ amountNanos, requests, seconds, inputTokens, outputTokens, images, characters }: Usage): object {
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

/** The midnight that begins a day, in UTC. */
function parseDay(text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, text.length) !== text)
    throw new WrongCall(`expected a day such as 2026-11-30, not ${text}`);
  return ms;
}
