import { noIds, oneId } from './command.ts';
import type { Command } from './command.ts';

export const channelCommands: Readonly<Record<string, Command>> = {
  'channel list': {
    usage: '',
    run: async ({ tasks }, words) => {
      noIds(words);
      const { channels } = await tasks.listChannels({});
      return {
        answer: channels.map((channel) => ({
          id: channel.id,
          adapter: channel.adapter,
          upstream_account: channel.upstreamAccount,
          enabled: channel.enabled,
          circuit: channel.circuit,
          in_flight: channel.inFlight,
          limits: { in_flight: channel.inFlightLimit, requests_per_minute: channel.requestsPerMinute },
          priority: channel.priority,
          weight: channel.weight,
          models: channel.models,
          endpoints: channel.endpoints,
        })),
      };
    },
  },
  'channel test': {
    usage: 'ID',
    run: async ({ tasks }, words) => {
      const { ok, detail, tookMs } = await tasks.testChannel({ id: oneId(words, 'channel') });
      return { ok, answer: { ok, detail, took_ms: Number(tookMs) } };
    },
  },
};
