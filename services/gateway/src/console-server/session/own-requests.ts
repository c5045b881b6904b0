import type { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../../http/http-exchange.ts';
import { refuse } from '../../refusals.ts';

/** A page of another site cannot send this header without asking first, and it is never allowed to. */
const HEADER = 'x-reelgate-console';
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Refuses what a page of another site sends with the cookie of this one. A read is refused if the browser says that
 * another site asks; everything else needs our own Origin and a header of ours.
 */
export function assertOwnRequest({ method, req: { headers } }: Exchange, publicOrigin: string | undefined): void {
  if (READS.has(method)) {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign();
    return;
  }
  const { origin, host = '' } = headers;
  const isOwn = origin !== undefined && (origin === publicOrigin || origin.replace(/^https?:\/\//, '') === host);
  if (!isOwn || headers[HEADER] === undefined) throw foreign();
}

function foreign(): Problem {
  return refuse('foreign_request', { message: 'the console takes requests of its own pages alone' });
}
