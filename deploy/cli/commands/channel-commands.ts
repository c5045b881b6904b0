import type { ChannelPause } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelStatus } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { WIDE_OPTION, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, readDuration, relativeTime } from '../format/times.ts';

const SECOND_MS = 1000;

const COLUMNS: readonly Column<ChannelStatus>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'ADAPTER', of: ({ adapter }) => adapter },
  { title: 'ENABLED', of: ({ enabled }) => (enabled ? 'yes' : 'no') },
  { title: 'PAUSED', of: ({ pause }) => (pause === undefined ? 'no' : relativeTime(pause.at)) },
  { title: 'PAUSED UNTIL', of: ({ pause }) => isoTime(pause?.endsAt) ?? '', isWide: true },
  { title: 'PAUSED BY', of: ({ pause }) => pause?.actor ?? '', isWide: true },
  { title: 'PAUSE REASON', of: ({ pause }) => pause?.reason ?? '', isWide: true },
  { title: 'CIRCUIT', of: ({ circuit }) => circuit },
  { title: 'IN FLIGHT', of: ({ inFlight, inFlightLimit }) => `${inFlight}/${inFlightLimit}` },
  { title: 'PER MINUTE', of: ({ requestsPerMinute }) => String(requestsPerMinute), isWide: true },
  { title: 'PRIORITY', of: ({ priority }) => String(priority), isWide: true },
  { title: 'WEIGHT', of: ({ weight }) => String(weight), isWide: true },
  { title: 'UPSTREAM ACCOUNT', of: ({ upstreamAccount }) => upstreamAccount, isWide: true },
  { title: 'MODELS', of: ({ models }) => models.join(','), shrinks: true },
  { title: 'ENDPOINTS', of: ({ endpoints }) => endpoints.join(','), isWide: true },
];

export const channelList = defineCommand({
  summary: 'list the channels with their load and circuit breaker',
  words: '',
  options: { wide: WIDE_OPTION },
  example: 'channel list',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { channels } = await services.tasks.listChannels({});
    return toListOutcome(channels, toChannelJson, COLUMNS, { terminal, options });
  },
});

export const channelTest = defineCommand({
  summary: 'make a call to the upstream of a channel that costs nothing',
  words: 'ID',
  options: { actor: ACTOR_OPTION },
  example: 'channel test sandbox',
  run: async ({ services, words, options, environment }) => {
    const { ok, detail, tookMs } = await services.tasks.testChannel({
      id: readSingleId(words, 'channel'),
      actor: readActor(options.actor, environment),
    });
    return { ok, answer: { ok, detail, took_ms: Number(tookMs) } };
  },
});

export const channelPause = defineCommand({
  summary: 'keep new work from a channel, at every replica, until the pause ends or it is resumed',
  words: 'ID',
  options: {
    reason: { value: 'TEXT', means: 'why, for the record', needed: true },
    for: { value: 'DURATION', means: 'for how long, up to 7d; default: until it is resumed' },
    actor: ACTOR_OPTION,
  },
  example: 'channel pause sandbox --for 30m --reason "the upstream loses results"',
  run: async ({ services, words, options, environment }) => {
    const { pause } = await services.tasks.pauseChannel({
      id: readSingleId(words, 'channel'),
      reason: options.reason ?? '',
      forSeconds: options.for === undefined ? 0 : Math.ceil(readDuration(options.for) / SECOND_MS),
      actor: readActor(options.actor, environment),
    });
    return { answer: pause === undefined ? {} : { id: pause.channel, ...toPauseJson(pause) } };
  },
});

export const channelResume = defineCommand({
  summary: 'give a paused channel new work again',
  words: 'ID',
  options: { reason: { value: 'TEXT', means: 'why, for the record' }, actor: ACTOR_OPTION },
  example: 'channel resume sandbox',
  run: async ({ services, words, options, environment }) => {
    const id = readSingleId(words, 'channel');
    const { wasPaused } = await services.tasks.resumeChannel({
      id,
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: { id, was_paused: wasPaused } };
  },
});

function toChannelJson(channel: ChannelStatus): object {
  return {
    id: channel.id,
    adapter: channel.adapter,
    upstream_account: channel.upstreamAccount,
    enabled: channel.enabled,
    ...(channel.pause === undefined ? {} : { pause: toPauseJson(channel.pause) }),
    circuit: channel.circuit,
    in_flight: channel.inFlight,
    limits: { in_flight: channel.inFlightLimit, requests_per_minute: channel.requestsPerMinute },
    priority: channel.priority,
    weight: channel.weight,
    models: channel.models,
    endpoints: channel.endpoints,
  };
}

function toPauseJson({ at, endsAt, actor, reason }: ChannelPause): object {
  return { paused_at: isoTime(at), ...(endsAt === undefined ? {} : { ends_at: isoTime(endsAt) }), actor, reason };
}
