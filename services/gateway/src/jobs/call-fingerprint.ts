import { computeFingerprint } from '../http/bodies/fingerprint.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';

/** The fingerprint of a call to a synchronous route, at a path with a prefix such as `/async`. */
export function computeCallFingerprint(
  prefix: string,
  { endpoint, path, search, body, parts = [], content: { json } }: RelayCall,
): Promise<string> {
  const fields = parts
    .filter(({ isFile }) => !isFile)
    .map(({ name, start, end }) => [name, body.toString('utf8', start, end)] as const);
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ name, start, end }) => ({ name, mediaType: '', chunks: [body.subarray(start, end)] }));
  return computeFingerprint({
    method: endpoint.method,
    path: `${prefix}${path}${search}`,
    body: json === undefined ? { form: { fields, files } } : { json },
  });
}
