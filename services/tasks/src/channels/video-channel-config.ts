import { upstreamKeys } from '@reelgate/platform/config/upstream-keys';
import {
  choice,
  custom,
  duration,
  flag,
  list,
  readSection,
  record,
  secret,
  text,
  whole,
} from '@reelgate/platform/config/settings';
import type { EntryOf } from '@reelgate/platform/config/settings';
import { KEYS_HOST, listHosts, signsWithSecret } from './channel-adapter.ts';
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

/** An entry of `channels` whose upstream this service calls. The list has the gateway's relay channels too. */
export const videoChannelKeys = {
  ...upstreamKeys,
  upstream_account: text(
    'the account of the upstream to which files (`asset://`, `mm_file://`) belong; an entry of `accounts` names the ' +
      'ones whose files it may use',
    { required: true, minLength: 1, maxLength: 128, absent: 'required, except for `relay`: the channel alone' },
  ),
  reconcile: choice('`list` or `none`: how a lost answer to a submission is searched for', ['list', 'none'], {
    default: 'list',
  }),
  references: choice('`inline` or `url`: how media reach the upstream', ['inline', 'url'], {
    absent: '`inline` if `public_url` is a private address, otherwise `url`',
  }),
  callbacks: flag('whether the upstream gets a callback address of the gateway', { default: false }),
  callback_secret: secret('the secret with which the upstream signs its callbacks; a wrong signature is refused', {
    minLength: 1,
    maxLength: 128,
    absent: 'none: the address is all that protects them',
  }),
  hosts: record(
    'addresses in place of the further hosts of the adapter, by their names',
    text('an address', { pattern: '^https?://[^\\s]+$', expects: 'an http:// or https:// URL' }),
    { default: {} },
  ),
  extra_fields: list('the extra fields of the adapter that this upstream takes', text('the name of a field'), {
    uniqueItems: true,
    absent: 'all that the adapter declares, but those for operators',
    expects: 'the extra fields that reach the upstream, of those of its adapter; absent: all of them',
  }),
  options: custom(
    'settings that only this adapter has; its page has the keys',
    { type: 'object' },
    { default: {}, expects: 'what only this adapter understands; its page has the keys' },
    (options: Readonly<Record<string, unknown>>) => options,
  ),
  regeneration: choice(
    'how the upstream gets the source of a regeneration: as its own task, or as a video with the prompt and the ' +
      'references',
    ['task', 'video'],
    { default: 'task' },
  ),
  limits: {
    ...upstreamKeys.limits,
    polls_per_minute: whole('polls of tasks, over all replicas; one poll can read several tasks', {
      absent: 'what the upstream documents (`dashscope` 1200, `replicate` 3000), otherwise 6000',
    }),
  },
  timeouts: {
    submit: duration('of a submission', { default: '60s', min: '1ms', as: 'submitTimeoutMs' }),
    poll: duration('of a poll', { default: '20s', min: '1ms', as: 'pollTimeoutMs' }),
  },
};

/** An entry of `channels` after the check against the schema. */
export type CheckedChannel = EntryOf<typeof videoChannelKeys> & { readonly adapter: string };

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
  const { limits, timeouts, ...values } = readSection(videoChannelKeys, channel, 'channels');
  const { pollsPerMinute = listAdapters(own)[channel.adapter]?.pollsPerMinute ?? POLLS_PER_MINUTE_DEFAULT } = limits;
  return {
    ...values,
    ...limits,
    ...timeouts,
    adapter: channel.adapter,
    ownAdapter: own.find((one) => one.name === channel.adapter),
    endpoints: values.endpoints as readonly Endpoint[],
    pollsPerMinute,
    references: values.references ?? references,
  };
}
