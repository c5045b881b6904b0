import type { Exchange } from '../../http/exchange.ts';

/** A cookie of a console. Pages cannot read it, and no other site can send it. */
export interface SessionCookie {
  read(exchange: Exchange): string | undefined;
  write(exchange: Exchange, value: string): void;
  clear(exchange: Exchange): void;
}

export interface SessionCookieOptions {
  readonly name: string;
  readonly lifetimeMs: number;
  /** Whether browsers reach the console over https alone. */
  readonly isSecure: boolean;
}

export function sessionCookie({ name, lifetimeMs, isSecure }: SessionCookieOptions): SessionCookie {
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]+)(?:;|$)`);
  const header = (value: string, maxAgeS: number): string =>
    [
      `${name}=${value}`,
      'Path=/console',
      `Max-Age=${String(maxAgeS)}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure ? ['Secure'] : []),
    ].join('; ');
  return {
    read: ({ req }) => pattern.exec(req.headers.cookie ?? '')?.[1],
    write: (exchange, value) => {
      exchange.set('set-cookie', header(value, Math.floor(lifetimeMs / 1000)));
    },
    clear: (exchange) => {
      exchange.set('set-cookie', header('', 0));
    },
  };
}
