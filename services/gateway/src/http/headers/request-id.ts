import { requestIdIn } from '@reelgate/platform/request-context';
import type { NewId } from '@reelgate/platform/ids';

/** The client's own id for a request if it is valid, otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: NewId): string {
  return requestIdIn(header) || newId('req');
}
