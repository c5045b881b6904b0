import { readPrefix } from '@reelgate/platform/http/path-prefix';

/** The first words of the paths of this gateway. */
export const FIRST_WORDS = [
  'api',
  'async',
  'callbacks',
  'console',
  'docs',
  'upload',
  'v1',
  'v1beta',
  'v2',
  'ximg',
] as const;
const OWN_PATH = new RegExp(`^/(?:${FIRST_WORDS.join('|')})(?:/|$)`);

/**
 * Returns the prefix that the gateway removes from paths; empty if its own paths begin alike. Then a path does not tell
 * whether the proxy has removed the prefix, so the proxy must.
 */
export function readRemovedPrefix(publicUrl: string): string {
  const prefix = readPrefix(publicUrl);
  return OWN_PATH.test(prefix) ? '' : prefix;
}
