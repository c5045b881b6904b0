import type { NewId } from '@reelgate/platform/ids';

const VALID = /^[\w.:/+=@-]{1,128}$/;

/** The client's own id for a request if it is valid, otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: NewId): string {
  return typeof header === 'string' && VALID.test(header) ? header : newId('req');
}
