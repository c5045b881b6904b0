import { readRequestId } from '@reelgate/platform/request-context';
import type { NewId } from '@reelgate/platform/ids';

/** The client's own id for a request if it is valid, otherwise a new one. */
export function readOrCreateRequestId(header: string | string[] | undefined, newId: NewId): string {
  return readRequestId(header) || newId('req');
}
