import { modelHider } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { RelayChannel } from './relay-channels.ts';
import type { Identities } from '../answers/scrub-error.ts';

/** Shorter pieces would match by accident. */
const KEY_LENGTH_MIN = 8;
const MODEL_LENGTH_MIN = 4;

/** What would tell a client which upstream serves a model, and what hides it. */
export interface ModelIdentities {
  readonly upstreamModel: string;
  /** A header that holds one of these words does not come back. */
  readonly inHeaders: readonly string[];
  readonly inErrors: Identities;
  readonly hider: ModelHider;
}

/** Of each channel by the public id of a model, of which its settings have only so many. */
const known = new WeakMap<RelayChannel, Map<string, ModelIdentities>>();

export function identitiesOf(channel: RelayChannel, publicModel: string): ModelIdentities {
  let ofChannel = known.get(channel);
  if (ofChannel === undefined) known.set(channel, (ofChannel = new Map<string, ModelIdentities>()));
  let identities = ofChannel.get(publicModel);
  if (identities === undefined) ofChannel.set(publicModel, (identities = identitiesFor(channel, publicModel)));
  return identities;
}

function identitiesFor({ settings: { baseUrl, apiKey, models } }: RelayChannel, publicModel: string): ModelIdentities {
  const upstreamModel = models[publicModel] ?? publicModel;
  const { host, hostname } = new URL(baseUrl);
  const key = apiKey.reveal();
  const hidden = [host, hostname, ...(key.length >= KEY_LENGTH_MIN ? [key] : [])];
  const isTelling = upstreamModel !== publicModel && upstreamModel.length >= MODEL_LENGTH_MIN;
  return {
    upstreamModel,
    inHeaders: isTelling ? [...hidden, upstreamModel] : hidden,
    inErrors: { publicModel, upstreamModel, hidden },
    hider: modelHider(publicModel, upstreamModel),
  };
}
