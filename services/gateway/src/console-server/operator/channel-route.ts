import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import type { Problem } from '@reelgate/platform/problem';
import { MarginSchema } from '@reelgate/proto/billing/v1/money';
import { PriceContractSchema } from '@reelgate/proto/billing/v1/price';
import type { PriceContract } from '@reelgate/proto/billing/v1/price';
import { modelsOfItAlone } from '../../../console/operator-values.ts';
import type { ChannelRow, ChannelView } from '../../../console/api/operator-channels.ts';
import { withDeadline } from '../../clients/caller.ts';
import { covers } from '../../domain/operator-role.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { toContractJson } from '../contract-json.ts';
import { ifReadable } from '../client/task-parts.ts';
import { listChannelRows, listRelayRows } from './channels-routes.ts';
import type { ChannelsParts } from './channels-routes.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { refuse } from '../../refusals.ts';

const DEADLINE_MS = 15_000;
const DAY_MS = 24 * 3_600_000;

export interface ChannelPageParts extends ChannelsParts {
  readonly clock: Clock;
  readonly log: Log;
}

const channelNotFound = (): Problem => refuse('not_found', { message: 'there is no such channel' });

/** `GET /channels/{id}`: everything about a channel. A service that is away leaves only its part out. */
export function channelRoute(parts: ChannelPageParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/channels/{id}',
    name: 'getChannel',
    role: 'viewer',
    answer: (exchange) => readChannelView(parts, exchange),
  });
}

async function readChannelView(parts: ChannelPageParts, exchange: Exchange): Promise<ChannelView> {
  const { clock, log, clients } = parts;
  const { state } = exchange;
  const id = exchange.params['id'] ?? '';
  const now = clock.now();
  const lastDay = { from: timestampFromMs(now - DAY_MS), to: timestampFromMs(now) };
  const [rows, money, prices] = await Promise.all([
    readRows(parts, id, exchange),
    ifReadable(log, 'money', clients.accounts.getMoney(lastDay, withDeadline(state, DEADLINE_MS))),
    ifReadable(log, 'prices', clients.accounts.listPrices({}, withDeadline(state, DEADLINE_MS))),
  ]);
  const row = rows.find(({ channel }) => channel.id === id);
  if (row === undefined) throw channelNotFound();
  return {
    row,
    onlyFor: modelsOfItAlone(row, rows),
    ...dropUndefined({
      margins: money?.margins
        .filter((margin) => margin.channel === id)
        .map((margin) => toContractJson(MarginSchema, margin)),
      contracts: prices && listPrices(prices.contracts, row.channel.models),
    }),
    canOperate: covers(requireOperator(exchange).role, 'operator'),
    now,
  };
}

/** A channel of synchronous calls is known without the tasks service; whether another one serves its models is too. */
async function readRows(parts: ChannelPageParts, id: string, exchange: Exchange): Promise<readonly ChannelRow[]> {
  try {
    return await listChannelRows(parts, exchange);
  } catch (error) {
    const own = listRelayRows(parts);
    if (!own.some(({ channel }) => channel.id === id)) throw error;
    return own;
  }
}

/** The key of a contract is a model, or a model and an operation behind two underscores. */
function listPrices(contracts: readonly PriceContract[], models: readonly string[]): ChannelView['contracts'] {
  return contracts
    .filter(({ key, current }) => current && models.includes(key.split('__')[0] ?? ''))
    .map((contract) => toContractJson(PriceContractSchema, contract));
}
