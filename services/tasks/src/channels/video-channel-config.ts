import { parseDuration } from '@reelgate/platform/config/units';
import { Secret } from '@reelgate/platform/secret';
import { duration, name, whole } from '../schema-parts.ts';
import { KEYS_HOST, listHosts, signsWithSecret } from './adapter-hosts.ts';
import { ADAPTERS } from './adapters/index.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import type { ChannelSettings, Endpoint } from './channel.ts';
import type { TestedAdapter } from './own-adapters/load-own-adapter.ts';

/** Polls in a minute where the upstream documents no limit. */
const POLLS_PER_MINUTE_DEFAULT = 6000;
const NO_OPTIONS = { type: 'object', maxProperties: 0, description: 'nothing: this adapter takes no options' };
const NO_HOSTS = { type: 'object', maxProperties: 0, description: 'nothing: this adapter has no further hosts' };
const NO_EXTRA = { type: 'array', maxItems: 0, description: 'nothing: this adapter has no extra fields' };
const NO_SECRET = { not: {}, description: 'nothing: the upstream of this adapter signs with no shared secret' };

/** The adapters of a configuration by the names that its channels use, built-in adapters and adapters of operators. */
export type KnownAdapters = Readonly<Record<string, ChannelAdapter>>;

/** Returns the built-in adapters and the adapters of operators, which have other names. */
export function listAdapters(own: readonly TestedAdapter[]): KnownAdapters {
  return { ...ADAPTERS, ...Object.fromEntries(own.map(({ name: called, adapter }) => [called, adapter])) };
}

/** Returns the keys that each adapter adds to the schema of a channel. */
export function describeAdapters(adapters: KnownAdapters) {
  return {
    /** The endpoints that each adapter can serve, by its name. */
    endpointsByAdapter: mapAdapters(adapters, ({ endpoints }): readonly Endpoint[] => endpoints),
    /** The schemas of the keys that depend on the adapter, by its name. */
    propertiesByAdapter: mapAdapters(adapters, describeOwnKeys),
  };
}

function mapAdapters<T>(adapters: KnownAdapters, map: (adapter: ChannelAdapter) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(adapters).map(([called, adapter]) => [called, map(adapter)]));
}

/**
 * The schema that this service adds to an entry of `channels`. It shares that list with the gateway's relay
 * channels.
 */
export const videoChannelSchema = {
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
    extra_fields: {
      type: 'array',
      uniqueItems: true,
      description: 'the extra fields that reach the upstream, of those of its adapter; absent: all of them',
      items: { type: 'string' },
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
  readonly extra_fields?: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly regeneration: 'task' | 'video';
}

/** An adapter without options refuses every option; a host that it does not have would never be called. */
function describeOwnKeys(adapter: ChannelAdapter): object {
  const hosts = Object.keys(listHosts(adapter));
  const fields = Object.keys(adapter.extraFields ?? {});
  return {
    options: adapter.options ?? NO_OPTIONS,
    hosts: hosts.length === 0 ? NO_HOSTS : { propertyNames: { enum: hosts }, properties: describeKeysHost(adapter) },
    extra_fields: fields.length === 0 ? NO_EXTRA : { items: { enum: fields } },
    ...(signsWithSecret(adapter) ? {} : { callback_secret: NO_SECRET }),
  };
}

/** The path of the key set follows from the adapter: an address with a path would be asked for another one. */
function describeKeysHost({ callbacks }: ChannelAdapter): object {
  const { signature } = callbacks ?? {};
  if (signature?.form !== 'ed25519') return {};
  const { origin, pathname } = new URL(signature.keys);
  const description = `an http:// or https:// address without a path, such as ${origin}; ${pathname} is added`;
  return { [KEYS_HOST]: { type: 'string', pattern: '^https?://[^\\s/?#]+/?$', description } };
}

/** `references` is how media reach the upstream if the channel does not say it. */
export function toChannelSettings(
  channel: CheckedChannel,
  references: 'inline' | 'url',
  own: readonly TestedAdapter[],
): ChannelSettings {
  const ownAdapter = own.find((one) => one.name === channel.adapter);
  return {
    id: channel.id,
    adapter: channel.adapter,
    ownAdapter,
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
      channel.limits.polls_per_minute ?? listAdapters(own)[channel.adapter]?.pollsPerMinute ?? POLLS_PER_MINUTE_DEFAULT,
    submitTimeoutMs: parseDuration(channel.timeouts.submit) ?? 0,
    pollTimeoutMs: parseDuration(channel.timeouts.poll) ?? 0,
    reconcile: channel.reconcile,
    references: channel.references ?? references,
    callbacks: channel.callbacks,
    callbackSecret: channel.callback_secret === undefined ? undefined : new Secret(channel.callback_secret),
    hosts: channel.hosts,
    extraFields: channel.extra_fields,
    options: channel.options,
    regeneration: channel.regeneration,
  };
}
