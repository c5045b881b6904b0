import type { Adapter } from '@reelgate/adapter-kit';
import { parseDuration } from '@reelgate/platform/config/units';
import { Secret } from '@reelgate/platform/secret';
import { duration, name, whole } from '../schema-parts.ts';
import { listHosts, signsWithSecret } from './adapter-hosts.ts';
import { ADAPTERS } from './adapters/index.ts';
import type { ChannelSettings, Endpoint } from './channel.ts';

/** Polls in a minute where the upstream documents no limit. */
const POLLS_PER_MINUTE_DEFAULT = 6000;
const NO_OPTIONS = { type: 'object', maxProperties: 0, description: 'nothing: this adapter takes no options' };
const NO_HOSTS = { type: 'object', maxProperties: 0, description: 'nothing: this adapter has no further hosts' };
const NO_SECRET = { not: {}, description: 'nothing: the upstream of this adapter signs with no shared secret' };

/**
 * The schema that this service adds to an entry of `channels`. It shares that list with the gateway's relay
 * channels.
 */
export const videoChannelSchema = {
  /** The endpoints that each adapter can serve, by the adapter's name in the configuration. */
  endpointsByAdapter: Object.fromEntries(
    Object.entries(ADAPTERS).map(([adapter, { endpoints }]): [string, readonly Endpoint[]] => [adapter, endpoints]),
  ),
  /** The schemas of the keys that depend on the adapter, by its name. */
  propertiesByAdapter: Object.fromEntries(
    Object.entries(ADAPTERS).map(([name, adapter]): [string, object] => [name, describeOwnKeys(adapter)]),
  ),
  /** A task lives at its upstream, in the account of the channel. */
  required: ['upstream_account'],
  properties: {
    upstream_account: name,
    reconcile: { enum: ['list', 'none'], default: 'list' },
    references: { enum: ['inline', 'url'] },
    callbacks: { type: 'boolean', default: false },
    callback_secret: name,
    hosts: {
      type: 'object',
      default: {},
      description: 'addresses in place of the further hosts of the adapter, by their names',
      additionalProperties: {
        type: 'string',
        pattern: '^https?://[^\\s]+$',
        description: 'an http:// or https:// URL',
      },
    },
    options: { type: 'object', default: {}, description: 'what only this adapter understands; its page has the keys' },
    regeneration: { enum: ['task', 'video'], default: 'task' },
  },
  limits: { polls_per_minute: whole(1) },
  timeouts: { submit: duration('60s'), poll: duration('20s') },
} as const;

/** An entry of `channels` after the check against the schema. */
export interface CheckedChannel {
  readonly id: string;
  readonly adapter: string;
  readonly base_url: string;
  readonly api_key: string;
  readonly upstream_account: string;
  readonly endpoints: readonly Endpoint[];
  readonly models: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  readonly limits: {
    readonly requests_per_minute: number;
    readonly in_flight: number;
    readonly polls_per_minute?: number;
  };
  readonly timeouts: { readonly submit: string; readonly poll: string };
  readonly reconcile: 'list' | 'none';
  readonly references?: 'inline' | 'url';
  readonly callbacks: boolean;
  readonly callback_secret?: string;
  readonly hosts: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, unknown>>;
  readonly regeneration: 'task' | 'video';
}

/** An adapter without options takes none; a host that it does not have would never be asked. */
function describeOwnKeys(adapter: Adapter): object {
  const hosts = Object.keys(listHosts(adapter));
  return {
    options: adapter.options ?? NO_OPTIONS,
    hosts: hosts.length === 0 ? NO_HOSTS : { propertyNames: { enum: hosts } },
    ...(signsWithSecret(adapter) ? {} : { callback_secret: NO_SECRET }),
  };
}

/** Reports whether a channel belongs to this service. The channels of other adapters belong to the gateway. */
export function isVideoChannel({ adapter }: { readonly adapter: string }): boolean {
  return Object.hasOwn(ADAPTERS, adapter);
}

/** Reports whether the upstreams of an adapter can call a URL of this service. */
export function takesCallbacks(adapter: string): boolean {
  return isVideoChannel({ adapter }) && ADAPTERS[adapter]?.callbacks !== undefined;
}

/** `references` is how media reach the upstream if the channel does not say it. */
export function toChannelSettings(channel: CheckedChannel, references: 'inline' | 'url'): ChannelSettings {
  return {
    id: channel.id,
    adapter: channel.adapter,
    baseUrl: channel.base_url,
    apiKey: new Secret(channel.api_key),
    upstreamAccount: channel.upstream_account,
    endpoints: channel.endpoints,
    models: channel.models,
    priority: channel.priority,
    weight: channel.weight,
    enabled: channel.enabled,
    requestsPerMinute: channel.limits.requests_per_minute,
    inFlightMax: channel.limits.in_flight,
    pollsPerMinute:
      channel.limits.polls_per_minute ?? ADAPTERS[channel.adapter]?.pollsPerMinute ?? POLLS_PER_MINUTE_DEFAULT,
    submitTimeoutMs: parseDuration(channel.timeouts.submit) ?? 0,
    pollTimeoutMs: parseDuration(channel.timeouts.poll) ?? 0,
    reconcile: channel.reconcile,
    references: channel.references ?? references,
    callbacks: channel.callbacks,
    callbackSecret: channel.callback_secret === undefined ? undefined : new Secret(channel.callback_secret),
    hosts: channel.hosts,
    options: channel.options,
    regeneration: channel.regeneration,
  };
}
