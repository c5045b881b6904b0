import { Secret } from '@reelgate/platform/secret';
import { parseDuration } from '@reelgate/platform/config/units';
import { REALTIME_ENDPOINT, relayEndpoints } from '../endpoints.ts';

/** The adapter of the channels that the gateway calls itself. */
const RELAY_ADAPTER = 'relay';
const AUTHS = ['bearer', 'x-api-key', 'x-goog-api-key'] as const;
const duration = (byDefault: string): object => ({ type: 'string', format: 'duration', default: byDefault });

/** The header in which an upstream expects its credential; `bearer` is `Authorization`. */
export type RelayAuth = (typeof AUTHS)[number];

/** The gateway's part of the schema of the list `channels`, which it shares with the tasks service. */
export const relayChannelSchema = {
  /** Every row of the endpoint table can be configured. */
  endpointsByAdapter: {
    [RELAY_ADAPTER]: [...new Set([...relayEndpoints.map(({ name }) => name), REALTIME_ENDPOINT])],
  },
  required: [],
  properties: {
    auth: { enum: AUTHS, default: 'bearer' },
    ask_usage: {
      type: 'boolean',
      default: true,
      description: 'whether streams of chats are asked for their usage, by stream_options',
    },
    open_to: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      default: [],
      description:
        'a list of accounts that can name what the operator keeps at the upstream, or ["*"] for every account',
    },
  },
  limits: {},
  timeouts: { first_byte: duration('300s'), idle: duration('120s') },
} as const;

/** A channel of the synchronous routes, as the configuration has it. */
export interface RelayChannelSettings {
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly auth: RelayAuth;
  /** True if streams are asked for their usage, if their protocol needs that. */
  readonly asksUsage: boolean;
  /** Undefined if no other channel has the same account of the upstream. */
  readonly upstreamAccount: string | undefined;
  /** The accounts that can name objects of the operator at the upstream. `*` stands for every account. */
  readonly openTo: readonly string[];
  /** The names of its endpoints. */
  readonly endpoints: readonly string[];
  /** The upstream ids by public id. */
  readonly models: Readonly<Record<string, string>>;
  /** Channels with a higher priority are tried first. */
  readonly priority: number;
  /** The share among channels of equal priority. */
  readonly weight: number;
  readonly enabled: boolean;
  readonly requestsPerMinute: number;
  readonly inFlightMax: number;
  /** From the request's last byte to the head of the answer. */
  readonly firstByteTimeoutMs: number;
  /** Between two pieces of an answer. */
  readonly idleTimeoutMs: number;
}

/** The channel as the file has it, after the schema of `channels` has accepted it. */
export interface CheckedRelayChannel {
  readonly id: string;
  readonly adapter: typeof RELAY_ADAPTER;
  readonly base_url: string;
  readonly api_key: string;
  readonly auth: RelayAuth;
  readonly ask_usage: boolean;
  readonly upstream_account?: string;
  readonly open_to: readonly string[];
  readonly endpoints: readonly string[];
  readonly models: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly limits: { readonly requests_per_minute: number; readonly in_flight: number };
  readonly timeouts: { readonly first_byte: string; readonly idle: string };
}

export function isRelayChannel(channel: { readonly adapter?: string }): channel is CheckedRelayChannel {
  return channel.adapter === RELAY_ADAPTER;
}

export function relayChannelSettings(channel: CheckedRelayChannel): RelayChannelSettings {
  const { id, auth, endpoints, models, priority, weight, enabled, limits, timeouts } = channel;
  return {
    id,
    auth,
    endpoints,
    models,
    priority,
    weight,
    enabled,
    upstreamAccount: channel.upstream_account,
    openTo: channel.open_to,
    baseUrl: channel.base_url,
    apiKey: new Secret(channel.api_key),
    asksUsage: channel.ask_usage,
    requestsPerMinute: limits.requests_per_minute,
    inFlightMax: limits.in_flight,
    firstByteTimeoutMs: parseDuration(timeouts.first_byte) ?? 0,
    idleTimeoutMs: parseDuration(timeouts.idle) ?? 0,
  };
}

/** The account of an upstream that a channel calls. Channels with the same one know each other's ids. */
export function nameUpstream({ id, upstreamAccount }: RelayChannelSettings): string {
  return upstreamAccount === undefined ? `channel ${id}` : `account ${upstreamAccount}`;
}
