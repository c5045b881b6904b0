import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { systemClock } from '@reelgate/platform/clock';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { UsageGroup, UsageSchema } from '@reelgate/proto/billing/v1/usage_service';
import { WrongCall, defineCommand, readSingleId } from '../command.ts';
import { asTable, listColumns } from '../format/table.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
const GROUPS: Readonly<Partial<Record<string, UsageGroup>>> = deriveValues(UsageGroup);
const COLUMNS = listColumns(UsageSchema, [
  'key',
  { field: 'name', shrinks: true },
  'amountNanos',
  'requests',
  'seconds',
  'inputTokens',
  'outputTokens',
  'images',
  'characters',
]);

export const usageShow = defineCommand({
  summary: 'show the charges of an account',
  words: 'ACCOUNT',
  options: {
    from: { value: 'DAY', means: `the first day; default: ${DAYS_DEFAULT} days before the last` },
    to: { value: 'DAY', means: 'the last day, inclusive; default: today' },
    by: { value: 'GROUP', means: 'the group of each line; default: day', choices: Object.keys(GROUPS) },
  },
  example: 'usage show demo --from 2026-11-01 --to 2026-11-30 --by model',
  run: async ({ services, words, options, terminal }) => {
    const accountId = readSingleId(words, 'account');
    const { from, to, by = 'day' } = options;
    const end = to === undefined ? today() + DAY_MS : parseDay(to) + DAY_MS;
    const begin = from === undefined ? end - DAYS_DEFAULT * DAY_MS : parseDay(from);
    const answer = await services.usage.getUsage({
      accountId,
      from: timestampFromMs(begin),
      to: timestampFromMs(end),
      groupBy: GROUPS[by] ?? UsageGroup.DAY,
    });
    const { groups, total = create(UsageSchema), currency } = answer;
    const rows = [...groups, { ...total, key: 'total' }];
    return {
      answer,
      text: `${asTable(rows, COLUMNS, { terminal })}\n\ncurrency  ${currency}`,
    };
  },
});

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
