import type { RelayChannel } from './relay-channels.ts';
import type { Identities } from './scrub-error.ts';

/** Shorter pieces would match by accident. */
const KEY_LENGTH_MIN = 8;
const MODEL_LENGTH_MIN = 4;
const known = new WeakMap<RelayChannel, readonly string[]>();

/** The words that would tell a client which upstream stands behind a channel. */
function identitiesOf(channel: RelayChannel): readonly string[] {
  const before = known.get(channel);
  if (before !== undefined) return before;
  const { baseUrl, apiKey } = channel.settings;
  const { host, hostname } = new URL(baseUrl);
  const key = apiKey.reveal();
  const words = [host, hostname, ...(key.length >= KEY_LENGTH_MIN ? [key] : [])];
  known.set(channel, words);
  return words;
}

/** Those, and the name that a model has there, where it has another one. */
export function headerIdentities(channel: RelayChannel, publicModel: string): readonly string[] {
  const upstreamModel = channel.settings.models[publicModel] ?? publicModel;
  return upstreamModel === publicModel || upstreamModel.length < MODEL_LENGTH_MIN ? identitiesOf(channel) : [...identitiesOf(channel), upstreamModel];
}

export function errorIdentities(channel: RelayChannel, publicModel: string): Identities {
  return { publicModel, upstreamModel: channel.settings.models[publicModel] ?? publicModel, hidden: identitiesOf(channel) };
}
