import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { ClientBody } from '../../dialects/dialect.ts';
import type { FrozenCall } from '../../relay/requests/relay-call.ts';

export interface Fingerprinted {
  readonly method: string;
  readonly path: string;
  readonly body: ClientBody;
}

/**
 * A digest of what a request asks for: the order of keys and the spacing of JSON do not change it, nor does a form's boundary. Every
 * value is hashed with its kind and length, so that no two bodies run into each other.
 */
export function fingerprintOf({ method, path, body }: Fingerprinted): string {
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
    hash.update(digestOf(chunks));
  }
  return hash.digest('base64url');
}

/** The same for a request of a synchronous route, behind a prefix of ours. */
export function fingerprintOfCall(
  prefix: string,
  { endpoint, path, search, body, parts = [], content: { json } }: FrozenCall,
): string {
  const fields = parts
    .filter(({ isFile }) => !isFile)
    .map(({ name, start, end }) => [name, body.toString('utf8', start, end)] as const);
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ name, start, end }) => ({ name, mediaType: '', chunks: [body.subarray(start, end)] }));
  return fingerprintOf({
    method: endpoint.method,
    path: `${prefix}${path}${search}`,
    body: json === undefined ? { form: { fields, files } } : { json },
  });
}

/** The depth of a body is bounded where it is parsed. */
function hashValue(hash: Hash, value: unknown): void {
  if (typeof value === 'string') hashText(hash, value);
  else if (Array.isArray(value)) {
    hash.update(`[${String(value.length)}`);
    for (const item of value) hashValue(hash, item);
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    hash.update(`{${String(entries.length)}`);
    for (const [name, inner] of entries) {
      hashText(hash, name);
      hashValue(hash, inner);
    }
  } else hash.update(`!${JSON.stringify(value)};`);
}

function hashText(hash: Hash, text: string): void {
  hash.update(`"${String(text.length)}:`).update(text);
}

function digestOf(chunks: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}
