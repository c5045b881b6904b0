import { Secret } from '@reelgate/platform/secret';
import type { ChannelSettings } from '../src/channels/channel.ts';

/** A channel that serves everything, with the changes of the test. */
export function channelSettings(changes: Partial<ChannelSettings> = {}): ChannelSettings {
  return {
    id: 'main',
    adapter: 'scripted',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: new Secret('upstream-key'),
    upstreamAccount: 'vendor',
    endpoints: ['video.generation', 'video.regeneration', 'video.context_ir'],
    models: { 'Alpha-H3': 'MiniMax-H3' },
    priority: 0,
    weight: 1,
    enabled: true,
    requestsPerMinute: 300,
    inFlightMax: 30,
    pollsPerMinute: 6000,
    submitTimeoutMs: 60_000,
    pollTimeoutMs: 20_000,
    reconcile: 'list',
    references: 'url',
    callbacks: false,
    hosts: {},
    options: {},
    regeneration: 'task',
    ...changes,
  };
}
