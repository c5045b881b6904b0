import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import { PauseChannelResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelList, ChannelRow, ChannelTest, PauseAnswer } from '../../../console/api/operator-channels.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import { covers } from '../../domain/operator-role.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { testRelayChannel } from '../../relay/channels/relay-checks.ts';
import { readJsonBody } from '../console-route.ts';
import { toContractJson } from '../contract-json.ts';
import { ifReadable } from '../client/task-parts.ts';
import { relayChannelRow, taskChannelRow } from './channel-rows.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, reasonBody, readReason } from './read-request.ts';

/** A test calls an upstream, which may be slow. */
const TEST_DEADLINE_MS = 30_000;

export interface ChannelsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly clients: OperatorClients;
  /** The channels that this gateway calls itself. */
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
}

/** The channels of tasks and of synchronous calls, and what operators do with them. */
export function channelsRoutes(parts: ChannelsParts): OperatorRouteEntry[] {
  const { clock } = parts;
  return [
    operatorRoute({
      method: 'GET',
      path: '/channels',
      name: 'listChannels',
      role: 'viewer',
      answer: async (exchange): Promise<ChannelList> => ({
        channels: await listChannelRows(parts, exchange),
        canOperate: covers(requireOperator(exchange).role, 'operator'),
        now: clock.now(),
      }),
    }),
    pauseRoute(parts),
    resumeRoute(parts),
    operatorRoute({
      method: 'POST',
      path: '/channels/{id}/test',
      name: 'testChannel',
      role: 'operator',
      answer: (exchange) => testChannel(parts, exchange),
    }),
  ];
}

export async function listChannelRows(
  { log, clients, relay, pauses }: ChannelsParts,
  { state }: Exchange,
): Promise<ChannelRow[]> {
  const [{ channels }, activity] = await Promise.all([
    clients.tasks.listChannels({}, withDeadline(state)),
    ifReadable(log, 'activity', clients.tasks.getActivity({}, withDeadline(state))),
    // the pauses of an older read are still shown
    pauses.refresh().catch(() => undefined),
  ]);
  const hours = new Map(activity?.channels.map((hour) => [hour.channel, hour]));
  return [
    ...channels.map((channel) => taskChannelRow(channel, hours.get(channel.id))),
    ...listRelayRows({ relay, pauses }),
  ];
}

/** The channels that this gateway calls itself. No other service is asked. */
export function listRelayRows({ relay, pauses }: Pick<ChannelsParts, 'relay' | 'pauses'>): ChannelRow[] {
  return relay.all().map((channel) => relayChannelRow(channel, pauses.of(channel.settings.id)));
}

/** The longest pause with an end: a week. */
const PAUSE_SECONDS_MAX = 604_800;

const pauseBody = bodyValidator<{ readonly reason: string; readonly forSeconds?: number }>({
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: { reason: REASON_SCHEMA, forSeconds: { type: 'integer', minimum: 1, maximum: PAUSE_SECONDS_MAX } },
});

function pauseRoute({ budget, clients, pauses }: ChannelsParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'POST',
    path: '/channels/{id}/pause',
    name: 'pauseChannel',
    role: 'operator',
    answer: async (exchange): Promise<PauseAnswer> => {
      const { forSeconds, ...why } = pauseBody(await readJsonBody(exchange, { budget }));
      const change = { ...readChange(exchange, why), forSeconds: forSeconds ?? 0 };
      const answer = await clients.tasks.pauseChannel(change, withDeadline(exchange.state));
      await applyPauses(pauses);
      return toContractJson(PauseChannelResponseSchema, answer);
    },
  });
}

function resumeRoute({ budget, clients, pauses }: ChannelsParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'POST',
    path: '/channels/{id}/resume',
    name: 'resumeChannel',
    role: 'operator',
    answer: async (exchange) => {
      const why = reasonBody(await readJsonBody(exchange, { budget }));
      await clients.tasks.resumeChannel(readChange(exchange, why), withDeadline(exchange.state));
      await applyPauses(pauses);
      return {};
    },
  });
}

function readChange(exchange: Exchange, why: { readonly reason: string }) {
  return { id: exchange.params['id'] ?? '', actor: requireOperator(exchange).name, reason: readReason(why) };
}

/** This gateway applies a change at once; the others hear of it. */
async function applyPauses(pauses: ChannelPauses): Promise<void> {
  await pauses.refresh().catch(() => undefined);
}

/** The tasks service tests its channels, and this gateway its own. */
async function testChannel({ clock, clients, relay }: ChannelsParts, exchange: Exchange): Promise<ChannelTest> {
  const id = exchange.params['id'] ?? '';
  const own = relay.all().find(({ settings }) => settings.id === id);
  if (own === undefined) {
    const { name: actor } = requireOperator(exchange);
    const call = withDeadline(exchange.state, TEST_DEADLINE_MS);
    const { ok, detail, tookMs } = await clients.tasks.testChannel({ id, actor }, call);
    return { ok, detail, tookMs: Number(tookMs) };
  }
  const startedAt = clock.now();
  const outcome = await testRelayChannel(own);
  return { ...outcome, tookMs: clock.now() - startedAt };
}
