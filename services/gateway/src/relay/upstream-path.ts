const VERSION = /^\/v\d\w*$/;

/**
 * Where our paths are under an upstream's base path: after it. A base that ends in the version that the path begins with
 * (`https://host/v1`, as SDKs want it) has it once.
 */
export function upstreamPath(basePath: string): (path: string) => string {
  const base = basePath.replace(/\/+$/, '');
  const last = base.slice(base.lastIndexOf('/'));
  const version = VERSION.test(last) ? last : undefined;
  return (path) => (version !== undefined && path.startsWith(`${version}/`) ? `${base.slice(0, -version.length)}${path}` : `${base}${path}`);
}
