const VERSION = /\/v\d\w*(?=\/|$)/;

/**
 * Where our paths are under an upstream's base path: behind it. A base that names a version is one as SDKs want it
 * (`https://host/v1`, `https://host/api/v3`, `https://host/v1beta/openai`), and takes the place of the path's own.
 */
export function upstreamPath(basePath: string): (path: string) => string {
  const base = basePath.replace(/\/+$/, '');
  const isVersioned = VERSION.test(base);
  return (path) => (isVersioned ? `${base}${path.replace(VERSION, '')}` : `${base}${path}`);
}
