const VERSION = /\/v\d\w*(?=\/|$)/;

/**
 * Puts the gateway's paths behind an upstream's base path. A base with a version, as SDKs expect it (`https://host/v1`,
 * `https://host/api/v3`, `https://host/v1beta/openai`), replaces the version of the path.
 */
export function upstreamPath(basePath: string): (path: string) => string {
  const base = basePath.replace(/\/+$/, '');
  const isVersioned = VERSION.test(base);
  return (path) => (isVersioned ? `${base}${path.replace(VERSION, '')}` : `${base}${path}`);
}
