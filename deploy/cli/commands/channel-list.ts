import type { ChannelStatus } from '@reelgate/proto/tasks/v1/operator_service';
import { defineCommand, assertNoWords } from '../command.ts';
import { toPauseJson } from '../format/channel-pause.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { relativeTime } from '../format/times.ts';

const COLUMNS: readonly Column<ChannelStatus>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'ADAPTER', of: ({ adapter }) => adapter },
  { title: 'ENABLED', of: ({ enabled }) => (enabled ? 'yes' : 'no') },
  { title: 'PAUSED', of: ({ pause }) => (pause === undefined ? 'no' : relativeTime(pause.at)) },
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
    return {
      answer: channels.map(toChannelJson),
      text: asTable(channels, COLUMNS, { terminal, isWide: options.wide }),
    };
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
