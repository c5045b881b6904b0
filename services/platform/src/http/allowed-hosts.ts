import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

const MISDIRECTED = 421;
const HOST_SHOWN_MAX = 200;
/** `name`, `name:80`, `[::1]:80`. */
const HOST = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d*)?$/;

/** Reports whether a request names a host that a port answers to. */
export type HostCheck = (request: Pick<IncomingMessage, 'headers'>) => boolean;

/**
 * Accepts an address, `localhost` and the names. `*.example` stands for every name below it. A page can point the name
 * of its own site to any address, and would then read the answers of a port behind that address. The browser still
 * sends the page's name as the host, so a port that knows its names refuses it. A request without a host does not come
 * from a browser.
 */
export function hostCheck(names: readonly string[]): HostCheck {
  const plain = ['localhost', ...names].map(normalizeHost);
  const exact = new Set(plain.filter((name) => !name.startsWith('*.')));
  const below = plain.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  return ({ headers: { host } }) => {
    if (host === undefined) return true;
    const [, address, name] = HOST.exec(host) ?? [];
    if (address !== undefined) return isIP(address) !== 0;
    if (name === undefined) return false;
    const named = normalizeHost(name);
    return isIP(named) !== 0 || exact.has(named) || below.some((domain) => named.endsWith(domain));
  };
}

/** Without the dot at the end that a name may have. */
function normalizeHost(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** Answers a request that names another host. */
export function refuseHost({ headers: { host = '' } }: IncomingMessage, response: ServerResponse): void {
  const message =
    `this port does not answer to the host ${host.slice(0, HOST_SHOWN_MAX)}; ` +
    'expected an address, localhost or a name of allowed_hosts';
  response
    .writeHead(MISDIRECTED, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' })
    .end(JSON.stringify({ code: 'permission_denied', message }));
}
