import type { IncomingHttpHeaders } from 'node:http';

/** A family of clients that asks for models, each in its own shape. */
export type Family = 'openai' | 'anthropic' | 'google';

/** Where several families ask at the same path. */
const SHARED = /^\/v1\/models(\/[^/]*)?$/;
const KEY_IN_QUERY = /[?&]key=/;

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly url?: string | undefined;
}

/** Whose client asks at a path that families share: by the headers that no other family sends. Undefined where the path alone says it. */
export function askingFamily({ path, headers, url = '' }: Asked): Family | undefined {
  if (!SHARED.test(path)) return undefined;
  if (headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined) return 'anthropic';
  const isGoogle = headers['x-goog-api-key'] !== undefined || (headers.authorization === undefined && KEY_IN_QUERY.test(url));
  return isGoogle ? 'google' : 'openai';
}
