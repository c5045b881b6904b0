import type { IncomingHttpHeaders } from 'node:http';

/** A family of API clients. Each family reads the list of models in its own shape. */
export type ClientFamily = 'openai' | 'anthropic' | 'google';

/** Paths that several families share. */
const SHARED = /^\/v1\/models(\/.*)?$/;
const KEY_IN_QUERY = /[?&]key=/;

export interface RequestHead {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly url?: string | undefined;
}

/**
 * Finds the family of the client at a shared path, by headers that no other family sends. Returns undefined
 * if the path determines the family.
 */
export function detectClientFamily({ path, headers, url = '' }: RequestHead): ClientFamily | undefined {
  if (!SHARED.test(path)) return undefined;
  if (headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined) return 'anthropic';
  const isGoogle =
    headers['x-goog-api-key'] !== undefined || (headers.authorization === undefined && KEY_IN_QUERY.test(url));
  return isGoogle ? 'google' : 'openai';
}
