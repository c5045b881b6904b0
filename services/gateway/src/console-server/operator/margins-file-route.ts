import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { MarginBucket, MarginSplit } from '@reelgate/proto/billing/v1/account_service';
import type { MarginSum } from '@reelgate/proto/billing/v1/money';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { requireValue } from '../../clients/wire-values.ts';
import { readEnumName } from '../../dialects/wire/query-values.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { formatCsvLine } from '../../http/routes/csv-text.ts';
import { readTextFilter } from '../read-filters.ts';
import { readPeriod } from '../views/period.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

/** By account every account is read, in parts. */
const DEADLINE_MS = 25_000;
/** The books keep hours for as long. */
const DAYS_MAX = 92;
/** The file of a longer period has a line for each day. */
const HOURLY_MS_MAX = 2 * 24 * 60 * 60 * 1000;
const KEY_MAX = 256;
const GROUPS_MAX = 100;
const SPLITS = deriveValues(MarginSplit);
const BUCKETS = deriveValues(MarginBucket);
const REST = 'all others';

interface Parts {
  readonly clock: Clock;
  readonly clients: OperatorClients;
}

/**
 * `GET /money/margins.csv`: the margins of a period as a file, with a line for each group and each part of the period in
 * which the group has work. A browser saves a file by its address, so no RPC replaces the route. Query: `from`, `to` (dates), `split`, `key` (one group).
 */
export function marginsFileRoute({ clock, clients }: Parts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/money/margins.csv',
    name: 'downloadMargins',
    role: 'viewer',
    answer: async (exchange: Exchange) => {
      const query = new URLSearchParams(exchange.querystring);
      const { from, to } = readPeriod(query, clock.now(), DAYS_MAX);
      const split = readEnumName(query, 'split', SPLITS) ?? 'channel';
      const bucket = to - from <= HOURLY_MS_MAX ? 'hour' : 'day';
      const { groups } = await clients.accounts.getMargins(
        {
          ...{ from: timestampFromMs(from), to: timestampFromMs(to), splitBy: SPLITS[split], bucket: BUCKETS[bucket] },
          ...{ key: readTextFilter(query, 'key', KEY_MAX) ?? '', limit: GROUPS_MAX },
        },
        withDeadline(exchange.state, DEADLINE_MS),
      );
      exchange.type = 'text/csv; charset=utf-8';
      exchange.attachment('reelgate-margins.csv');
      const lines = groups.flatMap(({ key, rest, currency, parts }) =>
        parts.map(({ beginsAt, sum }) => [
          new Date(timestampMs(requireValue(beginsAt))).toISOString(),
          ...[rest ? REST : key, String(rest), currency],
          ...COLUMNS.map(([, readCell]) => readCell(requireValue(sum)).toString()),
        ]),
      );
      const head = [bucket, split, 'is_rest', 'currency', ...COLUMNS.map(([name]) => name)];
      return [head, ...lines].map(formatCsvLine).join('');
    },
  });
}

const COLUMNS: readonly (readonly [name: string, readCell: (sum: MarginSum) => bigint | string])[] = [
  ['requests', ({ requests, uncostedRequests }) => requests + uncostedRequests],
  ['charged_with_known_cost', ({ chargedNanos }) => formatDecimal(chargedNanos)],
  ['margin', ({ chargedNanos, costNanos }) => formatDecimal(chargedNanos - costNanos)],
  ['measured_requests', ({ reportedRequests }) => reportedRequests],
  ['measured_charged', ({ reportedChargedNanos }) => formatDecimal(reportedChargedNanos)],
  ['measured_cost', ({ reportedCostNanos }) => formatDecimal(reportedCostNanos)],
  ['estimated_requests', ({ requests, reportedRequests }) => requests - reportedRequests],
  ['estimated_charged', ({ chargedNanos, reportedChargedNanos }) => formatDecimal(chargedNanos - reportedChargedNanos)],
  ['estimated_cost', ({ costNanos, reportedCostNanos }) => formatDecimal(costNanos - reportedCostNanos)],
  ['unknown_cost_requests', ({ uncostedRequests }) => uncostedRequests],
  ['unknown_cost_charged', ({ uncostedChargedNanos }) => formatDecimal(uncostedChargedNanos)],
];
