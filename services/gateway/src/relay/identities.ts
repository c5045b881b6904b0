import type { RelayChannel } from './relay-channels.ts';
import type { Identities } from './scrub-error.ts';

/** Shorter pieces would match by accident. */
const KEY_LENGTH_MIN = 8;
const known = new WeakMap<RelayChannel, readonly string[]>();

/** The words that would tell a client which upstream stands behind a channel. */
export function identitiesOf(channel: RelayChannel): readonly string[] {
  const before = known.get(channel);
  if (before !== undefined) return before;
  const { baseUrl, apiKey } = channel.settings;
  const { host, hostname } = new URL(baseUrl);
  const key = apiKey.reveal();
  const words = [host, hostname, ...(key.length >= KEY_LENGTH_MIN ? [key] : [])];
  known.set(channel, words);
  return words;
}

export function errorIdentities(channel: RelayChannel, publicModel: string): Identities {
  return { publicModel, upstreamModel: channel.settings.models[publicModel] ?? publicModel, hidden: identitiesOf(channel) };
}
