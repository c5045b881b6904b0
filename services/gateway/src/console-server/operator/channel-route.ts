import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import { Problem } from '@reelgate/platform/problem';
import { modelsOfItAlone } from '../../../console/operator-values.ts';
import type { AnswerMinute, ChannelRow, ChannelView } from '../../../console/api/operator-channels.ts';
import type { ContractRow } from '../../../console/api/operator-money.ts';
import type { FaultReads } from '../../clients/faults-client.ts';
import type { Ledger } from '../../clients/ledger-client.ts';
import type { ChannelPulse } from '../../clients/pulse-client.ts';
import type { WaitingTasks } from '../../clients/queue-client.ts';
import { covers } from '../../domain/operator-role.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { ifReadable } from '../client/task-parts.ts';
import { listChannelRows, listRelayRows } from './channels-routes.ts';
import type { ChannelsParts } from './channels-routes.ts';
import { countChannelFaults } from './fault-series.ts';
import { sumLastHour } from './minute-series.ts';
import { toMargins } from './money-routes.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';

const DAY_MS = 24 * 3_600_000;

export interface ChannelPageParts extends ChannelsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: FaultReads;
  readonly ledger: Ledger;
  readonly waiting: Pick<WaitingTasks, 'list'>;
}

const channelNotFound = (): Problem =>
  new Problem({ kind: 'not_found', reason: 'not_found', message: 'there is no such channel' });

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
  const { clock, log, pulse, faults, ledger, waiting } = parts;
  const { state } = exchange;
  const id = exchange.params['id'] ?? '';
  const now = clock.now();
  const [rows, hour, failures, money, contracts, queue] = await Promise.all([
    readRows(parts, id, exchange),
    ifReadable(log, 'pulse', pulse(state)),
    ifReadable(log, 'failures', faults.failures(id, state)),
    ifReadable(log, 'money', ledger.money({ from: now - DAY_MS, to: now }, state)),
    ifReadable(log, 'prices', ledger.contracts(state)),
    ifReadable(log, 'queue', waiting.list(state)),
  ]);
  const channel = rows.find((row) => row.id === id);
  if (channel === undefined) throw channelNotFound();
  const ofChannel = hour?.channels.get(id);
  return {
    channel,
    onlyFor: modelsOfItAlone(channel, rows),
    answers: listAnswers(ofChannel),
    faults: sumLastHour(ofChannel?.minutes ?? [], hour?.now ?? now, countChannelFaults),
    ...dropUndefined({
      failures,
      margins: money && toMargins(money.margins.filter((margin) => margin.channel === id)),
      contracts: contracts && listPrices(contracts, channel.models),
      lanes: queue?.lanes.filter(({ channels }) => channels.some((one) => one.id === id)),
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
    if (!own.some((row) => row.id === id)) throw error;
    return own;
  }
}

function listAnswers(hour: ChannelPulse | undefined): readonly AnswerMinute[] {
  return (hour?.minutes ?? []).flatMap(({ at, answerMsP50: p50, answerMsP95: p95 }) =>
    p50 === undefined || p95 === undefined ? [] : [{ at, p50, p95 }],
  );
}

/** The key of a contract is a model, or a model and an operation behind two underscores. */
function listPrices(contracts: readonly ContractRow[], models: readonly string[]): readonly ContractRow[] {
  return contracts.filter(({ key, isCurrent }) => isCurrent && models.includes(key.split('__')[0] ?? ''));
}
