import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import type { ChannelList, ChannelRow, ChannelTest, PauseAnswer } from '../../../console/api/operator-channels.ts';
import type { ChannelAct, TaskChannels } from '../../clients/channels-client.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { ReadPulse } from '../../clients/pulse-client.ts';
import { covers } from '../../domain/operator-role.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { testRelayChannel } from '../../relay/channels/relay-checks.ts';
import { readJsonBody } from '../console-route.ts';
import { ifReadable } from '../client/task-parts.ts';
import { relayChannelRow, taskChannelRow, toPause } from './channel-rows.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, reasonBody, readReason } from './read-request.ts';

export interface ChannelsParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly budget: BodyBudget;
  readonly channels: TaskChannels;
  readonly pulse: ReadPulse;
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
  { clock, log, channels, pulse, relay, pauses }: ChannelsParts,
  { state }: Exchange,
): Promise<ChannelRow[]> {
  const [listed, hour] = await Promise.all([
    channels.list(state),
    ifReadable(log, 'pulse', pulse(state)),
    // the pauses of an older read are still shown
    pauses.refresh().catch(() => undefined),
  ]);
  const now = hour?.now ?? clock.now();
  return [
    ...listed.map((channel) => taskChannelRow(channel, hour?.channels.get(channel.id), now)),
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

function pauseRoute({ budget, channels, pauses }: ChannelsParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'POST',
    path: '/channels/{id}/pause',
    name: 'pauseChannel',
    role: 'operator',
    answer: async (exchange): Promise<PauseAnswer> => {
      const { forSeconds, ...why } = pauseBody(await readJsonBody(exchange, { budget }));
      const pause = await channels.pause({ ...readChange(exchange, why), forSeconds }, exchange.state);
      await applyPauses(pauses);
      return toPause(pause);
    },
  });
}

function resumeRoute({ budget, channels, pauses }: ChannelsParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'POST',
    path: '/channels/{id}/resume',
    name: 'resumeChannel',
    role: 'operator',
    answer: async (exchange) => {
      const why = reasonBody(await readJsonBody(exchange, { budget }));
      await channels.resume(readChange(exchange, why), exchange.state);
      await applyPauses(pauses);
      return {};
    },
  });
}

function readChange(exchange: Exchange, why: { readonly reason: string }): ChannelAct {
  return { id: exchange.params['id'] ?? '', actor: requireOperator(exchange).name, reason: readReason(why) };
}

/** This gateway applies a change at once; the others hear of it. */
async function applyPauses(pauses: ChannelPauses): Promise<void> {
  await pauses.refresh().catch(() => undefined);
}

/** The tasks service tests its channels, and this gateway its own. */
async function testChannel({ clock, channels, relay }: ChannelsParts, exchange: Exchange): Promise<ChannelTest> {
  const id = exchange.params['id'] ?? '';
  const own = relay.all().find(({ settings }) => settings.id === id);
  if (own === undefined) return channels.test({ id, actor: requireOperator(exchange).name }, exchange.state);
  const startedAt = clock.now();
  const outcome = await testRelayChannel(own);
  return { ...outcome, tookMs: clock.now() - startedAt };
}
