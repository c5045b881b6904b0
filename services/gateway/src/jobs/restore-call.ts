import type { LeasedJob } from '../clients/jobs-client.ts';
import { matchPath } from '../http/routes/route.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';
import { parseCall } from '../relay/routes/read-call.ts';
import { refuse } from '../refusals.ts';

/** Restores a stored call. It keeps the access rights that it was created with. */
export function restoreCall(
  { call: { method, path, search, headers, model, label }, accountId, tokenId, visibleModels, requestId }: LeasedJob,
  body: Buffer,
): Promise<RelayCall> {
  const endpoint = relayEndpoints.find((one) => one.method === method && matchPath(one.path, path) !== undefined);
  if (endpoint === undefined)
    throw refuse('not_found', { message: 'the synchronous route of this call no longer exists' });
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return parseCall({
    endpoint,
    path,
    params: { model },
    search,
    headers,
    body,
    requestId,
    contentType: at < 0 ? undefined : headers[at + 1],
    label,
    principal: {
      accountId,
      tokenId,
      models: visibleModels,
      expiresAt: undefined,
      webhooks: 'none',
      tokenName: '',
      tokens: 'none',
    },
  });
}
