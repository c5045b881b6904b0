import type { CheckedRelayChannel } from '../src/relay/channels/relay-channel-config.ts';
import { relayEndpoints } from '../src/relay/endpoints.ts';

/** A relay channel as it is in a checked configuration file. */
export function aRelayChannel(over: Partial<CheckedRelayChannel> = {}): CheckedRelayChannel {
  return {
    id: 'text',
    adapter: 'relay',
    base_url: 'http://127.0.0.1:1',
    api_key: 'upstream-secret-key',
    auth: 'bearer',
    ask_usage: true,
    open_to: [],
    endpoints: [...new Set(relayEndpoints.map(({ name }) => name))],
    models: { 'some-model': 'upstream-model-2026' },
    priority: 0,
    weight: 1,
    enabled: true,
    limits: { requests_per_minute: 1_000_000, in_flight: 1000 },
    timeouts: { first_byte: '5s', idle: '5s' },
    ...over,
  };
}
