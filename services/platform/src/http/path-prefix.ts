/**
 * Returns the relative path from the page at a path up to the root of this service, such as `../`. Relative addresses
 * lead to the right place behind every proxy that puts a prefix before the paths.
 */
export function toRoot(path: string): string {
  return '../'.repeat(path.split('/').length - 2) || './';
}

/**
 * Returns the path of the public address, which a proxy can have put before all paths. Returns an empty text if there
 * is no such path.
 */
export function readPrefix(publicUrl: string): string {
  return new URL(publicUrl).pathname.replace(/\/+$/, '');
}

/** Takes the prefix off the address of a request, for a proxy that leaves it there. */
export function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}
