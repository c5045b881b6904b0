import type { ChannelHour, ChannelRow, PauseAnswer } from '../../../console/api/operator-channels.ts';
import type { ChannelPause, TaskChannel } from '../../clients/channels-client.ts';
import type { ChannelMinute, ChannelPulse } from '../../clients/pulse-client.ts';
import type { RelayChannel } from '../../relay/channels/relay-channels.ts';
import { sumLastHour } from './minute-series.ts';

/** A channel of the tasks service, and its last hour if anything happened. */
export function taskChannelRow(channel: TaskChannel, hour: ChannelPulse | undefined, now: number): ChannelRow {
  const { pause, ...rest } = channel;
  return {
    ...rest,
    isRelay: false,
    ...(pause === undefined ? {} : { pause: toPause(pause) }),
    ...(hour === undefined ? {} : { hour: hourView(hour, now) }),
  };
}

/** A channel that this gateway calls itself: its circuit and its calls, as far as they go. */
export function relayChannelRow({ settings, circuit, permits }: RelayChannel, pause?: ChannelPause): ChannelRow {
  const { id, enabled, inFlightMax, requestsPerMinute, priority, weight, models, endpoints } = settings;
  return {
    id,
    adapter: 'relay',
    isRelay: true,
    upstreamAccount: '',
    isEnabled: enabled,
    circuit: circuit.state(),
    inFlight: permits.inUse(),
    inFlightMax,
    perMinuteMax: requestsPerMinute,
    priority,
    weight,
    models: Object.keys(models),
    endpoints,
    ...(pause === undefined ? {} : { pause: toPause(pause) }),
  };
}

export function toPause({ at, actor, reason, endsAt }: ChannelPause): PauseAnswer {
  return { at, actor, reason, ...(endsAt === undefined ? {} : { endsAt }) };
}

type CountOfChannel = Exclude<keyof ChannelMinute, 'at' | 'answerMsP50' | 'answerMsP95'>;

function hourView(
  { minutes, answerMsP50, answerMsP95, lastError, lastErrorAt }: ChannelPulse,
  now: number,
): ChannelHour {
  const sum = (count: CountOfChannel): number => minutes.reduce((total, minute) => total + minute[count], 0);
  return {
    accepted: sum('accepted'),
    refused: sum('refused'),
    unknown: sum('unknown'),
    completed: sum('completed'),
    failed: sum('failed'),
    failedPolls: sum('failedPolls'),
    minutes: sumLastHour(minutes, now, ({ accepted, refused, unknown }) => accepted + refused + unknown),
    ...(answerMsP50 === undefined ? {} : { answerMsP50 }),
    ...(answerMsP95 === undefined ? {} : { answerMsP95 }),
    ...(lastError === undefined ? {} : { lastError }),
    ...(lastErrorAt === undefined ? {} : { lastErrorAt }),
  };
}
