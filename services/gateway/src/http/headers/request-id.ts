import type { NewId } from '@reelgate/platform/ids';

const SANE = /^[\w.:/+=@-]{1,128}$/;

/** The client's own name for a request, if it is a sane one; otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: NewId): string {
  return typeof header === 'string' && SANE.test(header) ? header : newId('req');
}
