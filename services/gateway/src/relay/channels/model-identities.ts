import type { IncomingHttpHeaders } from 'node:http';
import { modelHider } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import { newAnswerHeaderFilter } from '../answers/answer-headers.ts';
import type { AnswerHeaderFilter } from '../answers/answer-headers.ts';
import type { AnswerHeaders } from '../answers/call-sink.ts';
import type { Identities } from '../answers/scrub-error.ts';
import type { RelayChannelSettings } from './relay-channel-config.ts';

/** A shorter text would match by accident. */
const KEY_LENGTH_MIN = 8;
const MODEL_LENGTH_MIN = 4;

/** The names that identify the upstream of a model, and the functions that hide them. */
export interface ModelIdentities {
  readonly upstreamModel: string;
  readonly inErrors: Identities;
  readonly hider: ModelHider;
  /** The headers of an answer without those that name the upstream. */
  headersBack(headers: IncomingHttpHeaders): AnswerHeaders;
}

export type FindIdentities = (publicModel: string) => ModelIdentities;

/** Caches the identities of a channel's models; their number is bounded by the configuration. */
export function cacheIdentities(settings: RelayChannelSettings): FindIdentities {
  const known = new Map<string, ModelIdentities>();
  const filter = newAnswerHeaderFilter();
  return (publicModel) => {
    let identities = known.get(publicModel);
    if (identities === undefined) known.set(publicModel, (identities = buildIdentities(settings, publicModel, filter)));
    return identities;
  };
}

function buildIdentities(
  { baseUrl, apiKey, models }: RelayChannelSettings,
  publicModel: string,
  filter: AnswerHeaderFilter,
): ModelIdentities {
  const upstreamModel = models[publicModel] ?? publicModel;
  const { host, hostname } = new URL(baseUrl);
  const key = apiKey.reveal();
  const hidden = [host, hostname, ...(key.length >= KEY_LENGTH_MIN ? [key] : [])];
  const isTelling = upstreamModel !== publicModel && upstreamModel.length >= MODEL_LENGTH_MIN;
  const inHeaders = isTelling ? [...hidden, upstreamModel] : hidden;
  return {
    upstreamModel,
    inErrors: { publicModel, upstreamModel, hidden },
    hider: modelHider(publicModel, upstreamModel),
    headersBack: (headers) => filter(headers, inHeaders),
  };
}
