import { memberSchemas } from '../../domain/schema.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { readUsageQuestion } from '../../http/routes/account-usage-route.ts';
import { USAGE_COUNTS, encodeSum, groupings } from '../../http/routes/usage-doc.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { readBalanceLeft } from '../read-video.ts';
import { moneySchemas } from '../shown-video.ts';

/** The days of a month. A longer statement fills the context of a model. */
const ROWS_MAX = 31;

const sums = { amount: moneySchemas.amount, ...memberSchemas(USAGE_COUNTS, { type: 'integer' }) };

/** Reads what the account was charged. */
export function usageGet(parts: ToolParts): McpTool {
  return buildTool({
    name: 'usage_get',
    title: 'Read the usage',
    description: 'Reads what the account was charged, by day, model or token, and what it can still spend.',
    input: buildObjectSchema({
      from: { type: 'string', maxLength: 40, description: 'A date such as 2026-11-01; default: 30 days ago.' },
      to: { type: 'string', maxLength: 40, description: 'A date, inclusive; default: now.' },
      group_by: { type: 'string', enum: groupings, default: 'day' },
    }),
    output: buildObjectSchema(
      {
        rows: {
          type: 'array',
          maxItems: ROWS_MAX,
          items: buildObjectSchema({ key: { type: 'string' }, ...sums }, ['key', 'amount']),
        },
        has_more: { type: 'boolean', description: 'True if more rows exist. The total includes them.' },
        total: buildObjectSchema(sums, ['amount']),
        balance_left: { ...moneySchemas.amount, description: 'What can still be spent.' },
        currency: moneySchemas.currency,
      },
      ['rows', 'has_more', 'total', 'balance_left', 'currency'],
    ),
    hints: READ_ONLY,
    run: async (args, call) => {
      const { accountId } = call.principal;
      const question = readUsageQuestion(new URLSearchParams(Object.entries(args)), parts.clock.now());
      const [{ groups, total, currency, truncated }, left] = await Promise.all([
        parts.usage({ ...question, accountId }, call.requestId),
        readBalanceLeft(parts, call),
      ]);
      return {
        structured: {
          // without the name of a token, which is a text of a client
          rows: groups.slice(0, ROWS_MAX).map((sum) => ({ key: sum.key, ...encodeSum(sum) })),
          has_more: truncated || groups.length > ROWS_MAX,
          total: encodeSum(total),
          balance_left: formatDecimal(left.nanos),
          currency,
        },
      };
    },
  });
}
