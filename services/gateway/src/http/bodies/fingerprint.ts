import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { ClientBody } from '../../dialects/dialect.ts';
import type { RelayCall } from '../../relay/requests/relay-call.ts';

export interface FingerprintInput {
  readonly method: string;
  readonly path: string;
  readonly body: ClientBody;
}

/**
 * A digest of the content of a request. The order of keys, the spacing of JSON and the boundary of a form do not change
 * it. Each value is hashed with its type and length, so that two different bodies have different inputs.
 */
export function computeFingerprint({ method, path, body }: FingerprintInput): string {
  const hash = createHash('sha256');
  hashText(hash, method);
  hashText(hash, path);
  if ('json' in body) {
    hashValue(hash, body.json);
    return hash.digest('base64url');
  }
  for (const [name, value] of body.form.fields) {
    hashText(hash, name);
    hashText(hash, value);
  }
  for (const { name, mediaType, chunks } of body.form.files) {
    hashText(hash, name);
    hashText(hash, mediaType);
    hash.update(hashChunks(chunks));
  }
  return hash.digest('base64url');
}

/** The fingerprint of a call to a synchronous route, at a path with a prefix such as `/async`. */
export function computeCallFingerprint(
  prefix: string,
  { endpoint, path, search, body, parts = [], content: { json } }: RelayCall,
): string {
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

/** The recursion is bounded: the parser limits the depth of a body. */
function hashValue(hash: Hash, value: unknown): void {
  if (typeof value === 'string') hashText(hash, value);
  else if (Array.isArray(value)) {
    hash.update(`[${value.length}`);
    for (const item of value) hashValue(hash, item);
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    hash.update(`{${entries.length}`);
    for (const [name, inner] of entries) {
      hashText(hash, name);
      hashValue(hash, inner);
    }
  } else hash.update(`!${JSON.stringify(value)};`);
}

function hashText(hash: Hash, text: string): void {
  hash.update(`"${text.length}:`).update(text);
}

function hashChunks(chunks: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}
