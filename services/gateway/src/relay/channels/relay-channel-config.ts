import { upstreamKeys } from '@reelgate/platform/config/upstream-keys';
import { choice, duration, flag, list, readSection, text } from '@reelgate/platform/config/settings';
import type { EntryOf, ValuesOf } from '@reelgate/platform/config/settings';
import { REALTIME_ENDPOINT, relayEndpoints } from '../endpoints.ts';

/** The adapter of the channels that the gateway calls itself. */
const RELAY_ADAPTER = 'relay';
const AUTHS = ['bearer', 'x-api-key', 'x-goog-api-key'] as const;

/** The header in which an upstream expects its credential; `bearer` is `Authorization`. */
export type RelayAuth = (typeof AUTHS)[number];

/** An entry of `channels` whose upstream the gateway calls. The list has the channels of the tasks service too. */
export const relayChannelKeys = {
  ...upstreamKeys,
  upstream_account: text('the account of the upstream'),
  auth: choice('of a relay channel: `bearer`, `x-api-key` or `x-goog-api-key`', AUTHS, { default: 'bearer' }),
  ask_usage: flag('of a relay channel: whether streams of chats are asked for their usage by `stream_options`', {
    default: true,
    as: 'asksUsage',
  }),
  open_to: list(
    'of a relay channel: the accounts that can name what the operator keeps at the upstream, or `["*"]` for every ' +
      'account',
    text('the id of an account', { minLength: 1 }),
    {
      default: [],
      uniqueItems: true,
      expects: 'a list of accounts that can name what the operator keeps at the upstream, or ["*"] for every account',
    },
  ),
  timeouts: {
    first_byte: duration("of a relay channel: from the request's last byte to the head of the answer", {
      default: '300s',
      min: '1ms',
      as: 'firstByteTimeoutMs',
    }),
    idle: duration('of a relay channel: between two pieces of an answer', {
      default: '120s',
      min: '1ms',
      as: 'idleTimeoutMs',
    }),
  },
};

/** The endpoints of a relay channel: every row of the endpoint table can be configured. */
export const relayChannelEndpoints: Readonly<Record<string, readonly string[]>> = {
  [RELAY_ADAPTER]: [...new Set([...relayEndpoints.map(({ name }) => name), REALTIME_ENDPOINT])],
};

type RelayChannelValues = ValuesOf<typeof relayChannelKeys>;

/** A channel of the synchronous routes, as the configuration has it. */
export type RelayChannelSettings = Omit<RelayChannelValues, 'limits' | 'timeouts'> &
  RelayChannelValues['limits'] &
  RelayChannelValues['timeouts'];

/** The channel as the file has it, after the schema of `channels` has accepted it. */
export type CheckedRelayChannel = EntryOf<typeof relayChannelKeys> & { readonly adapter: typeof RELAY_ADAPTER };

export function isRelayChannel(channel: { readonly adapter?: string }): channel is CheckedRelayChannel {
  return channel.adapter === RELAY_ADAPTER;
}

export function relayChannelSettings(channel: CheckedRelayChannel): RelayChannelSettings {
  const { limits, timeouts, ...values } = readSection(relayChannelKeys, channel, 'channels');
  return { ...values, ...limits, ...timeouts };
}

/** The account of an upstream that a channel calls. Channels with the same one know each other's ids. */
export function nameUpstream({ id, upstreamAccount }: RelayChannelSettings): string {
  return upstreamAccount === undefined ? `channel ${id}` : `account ${upstreamAccount}`;
}
