/** The files of the console lie below `/console/a/`, behind the prefix of a proxy. */
const FILES = /^(.*)\/console\/a\/[^/]+\//;
const root = readRoot(import.meta.url);

/** Returns the prefix of a proxy from the address of a file of the console; empty if there is none. */
function readRoot(file: string): string {
  return FILES.exec(new URL(file).pathname)?.[1] ?? '';
}

/** Puts the prefix before a path of this service, such as `/console/tasks`, for the browser. */
export function toBrowserPath(path: string): string {
  return root + path;
}

/** Takes the prefix off a path of the browser. */
export function toOwnPath(path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length) : path;
}
