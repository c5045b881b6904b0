import type { IncomingMessage } from 'node:http';
import type { HostCheck } from '@reelgate/platform/http/allowed-hosts';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

const SHOWN_MAX = 200;

/** The names under which this gateway is reached. */
export interface OwnAddresses {
  readonly publicOrigin: string;
  readonly isAllowedHost: HostCheck;
  /** Reports whether the operator lets the pages of an origin call. */
  readonly allowsOrigin: (origin: string) => boolean;
}

/**
 * Refuses what a page of another site sends, unless the operator has listed its origin. A page can lead the name of its
 * own site to the address of this gateway, so the host is checked too. Programs send no Origin.
 */
export function assertOwnCaller(
  { publicOrigin, isAllowedHost, allowsOrigin }: OwnAddresses,
  request: IncomingMessage,
): void {
  const { host = '', origin } = request.headers;
  if (!isAllowedHost(request))
    throw foreign(`this route does not answer to the host ${host.slice(0, SHOWN_MAX)}; add it to allowed_hosts`);
  if (origin === undefined || origin === publicOrigin || origin.replace(/^https?:\/\//, '') === host) return;
  if (allowsOrigin(origin)) return;
  throw foreign('this route takes no requests of pages of this site; gateway.cors.origins does not list it');
}

function foreign(message: string): Problem {
  return refuse('foreign_request', { message });
}
