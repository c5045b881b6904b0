import type { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../../http/http-exchange.ts';
import { refuse } from '../../refusals.ts';

/** A cookie of a console. Pages cannot read it, and no other site can send it. */
export interface SessionCookie {
  /** Refuses a request that carries two: someone else set one of them. */
  read(exchange: Exchange): string | undefined;
  write(exchange: Exchange, value: string): void;
  clear(exchange: Exchange): void;
}

export interface SessionCookieOptions {
  readonly name: string;
  readonly lifetimeMs: number;
  /** True if browsers reach the console over https alone. */
  readonly isSecure: boolean;
  /** The path before `/console` in the address that browsers use; empty if there is none. */
  readonly prefix: string;
}

const VALUE = /^[\w-]+$/;
/** A browser takes a cookie of such a name from this host alone, over https, and for every path. */
const HOST_PREFIX = '__Host-';
/** The same for some paths: behind a prefix, what else the host serves must not get the cookie. */
const SECURE_PREFIX = '__Secure-';

export function sessionCookie({ name: plain, lifetimeMs, isSecure, prefix }: SessionCookieOptions): SessionCookie {
  const isForHost = isSecure && prefix === '';
  const name = `${isForHost ? HOST_PREFIX : isSecure ? SECURE_PREFIX : ''}${plain}`;
  const header = (value: string, maxAgeS: number): string =>
    [
      `${name}=${value}`,
      isForHost ? 'Path=/' : `Path=${prefix}/console`,
      `Max-Age=${maxAgeS}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
  return {
    read: ({ req }) => {
      const [value, ...others] = listCookieValues(req.headers.cookie ?? '', name);
      if (others.length > 0) throw severalSessions(name);
      return value !== undefined && VALUE.test(value) ? value : undefined;
    },
    write: (exchange, value) => exchange.set('set-cookie', header(value, Math.floor(lifetimeMs / 1000))),
    clear: (exchange) => exchange.set('set-cookie', header('', 0)),
  };
}

/** Node joins several headers with a semicolon too. */
function listCookieValues(header: string, name: string): readonly string[] {
  const begin = `${name}=`;
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(begin))
    .map((pair) => pair.slice(begin.length));
}

function severalSessions(name: string): Problem {
  return refuse('several_sessions', {
    message: `the request has several cookies named ${name}; remove the cookies of this site, then sign in again`,
  });
}
