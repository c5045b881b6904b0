import { encodePathPart } from '../endpoints.ts';
import type { UsageRequest } from '../protocols/protocol.ts';
import type { RelayCall } from './relay-call.ts';
import { withMember, withModel } from '../../json-bytes/json-members.ts';
import { setFormField } from './form-parts.ts';
import type { FormPart } from './form-parts.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';

export interface UpstreamRequest {
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer;
}

/**
 * Builds the request for one channel from the call alone, so that no part of an earlier attempt remains. With a request
 * for usage the body has that member too.
 */
export function buildUpstreamRequest(
  call: RelayCall,
  channel: RelayChannel,
  usageRequest?: UsageRequest,
): UpstreamRequest {
  const { name, value } = channel.credential;
  const { upstreamModel } = channel.findIdentities(call.model);
  return {
    path: channel.toUpstreamPath(buildPath(call, upstreamModel)) + call.search,
    headers: [...call.headers, name, value, 'accept-encoding', 'identity'],
    body: buildBody(call, upstreamModel, usageRequest),
  };
}

function buildPath({ endpoint, path, model }: RelayCall, upstreamModel: string): string {
  if (endpoint.model !== 'path' || model === upstreamModel) return path;
  const verb = path.slice(path.lastIndexOf(':'));
  return `${endpoint.path.slice(0, endpoint.path.indexOf('{'))}${encodePathPart(upstreamModel)}${verb}`;
}

function buildBody(call: RelayCall, upstreamModel: string, asked: UsageRequest | undefined): Buffer {
  const { endpoint, content, parts, body, model } = call;
  if (parts !== undefined)
    return model === upstreamModel && !isNamedTwice(parts)
      ? body
      : setFormField(body, parts, { name: 'model', value: upstreamModel });
  if (content.json === undefined) return body;
  const named = endpoint.model === 'body' ? withModel(body, model, upstreamModel) : body;
  return asked === undefined ? named : withMember(named, asked.name, asked.valueJson);
}

/** Returns the member that requests usage, or undefined if the client has sent it or the upstream needs no request. */
export function buildUsageRequest({ endpoint: { protocol }, content }: RelayCall): UsageRequest | undefined {
  if (protocol.stream.askUsage === undefined || content.json === undefined || !protocol.isStream(content))
    return undefined;
  return protocol.stream.askUsage(content.json);
}

/** Reports whether another reader of the form could take another model. */
function isNamedTwice(parts: readonly FormPart[]): boolean {
  return parts.filter(({ name }) => name === 'model').length > 1;
}
