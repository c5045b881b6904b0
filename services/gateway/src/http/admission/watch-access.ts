import { NOT_AWAITED, startTimer } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Problem } from '@reelgate/platform/problem';
import type { Principal } from '../../clients/billing-client.ts';
import { SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import { isTokenRefusal, watchToken } from '../../operations/watch-token.ts';
import type { Exchange } from '../http-exchange.ts';

/** A watch takes some microseconds to begin, so most requests are not watched. */
const SHORT_MS = 900;

/** The parts that watch whether a token still has its access. */
export interface AccessParts {
  readonly principals: Principals;
  readonly clock: Clock;
}

/** The same for a wait. */
export interface WaitAccessParts extends AccessParts {
  /** Aborted when the gateway stops; then waiting reads are answered at once. */
  readonly stopping: AbortSignal;
}

/** Calls `onRefused` within two seconds after the token of the request has lost its access, until `over` is aborted. */
export function watchAccess(
  { principals, clock }: AccessParts,
  exchange: Exchange,
  { over, onRefused }: { readonly over: AbortSignal; readonly onRefused: (problem: Problem) => void },
): void {
  void watchToken(readPrincipalNow({ principals }, exchange), { clock, over, onRefused });
}

/**
 * Closes the connection once the token of the request has lost its access, as if the client had left. The client pays
 * for the part that it has received. A request that ends soon is not watched.
 */
export function closeWithoutAccess(parts: AccessParts, exchange: Exchange): void {
  let over: AbortController | undefined;
  const stop = startTimer(parts.clock, SHORT_MS, () => {
    over = new AbortController();
    watchAccess(parts, exchange, {
      over: over.signal,
      onRefused: () => {
        exchange.res.destroy();
      },
    });
  });
  exchange.state.end.whenOver(() => {
    stop();
    over?.abort(NOT_AWAITED);
  });
}

/**
 * Runs a wait. Its signal is aborted when the client leaves, the gateway stops, or the token has lost its access. The
 * token is checked once more after the wait, so that a token that was revoked meanwhile gets no result and no link.
 */
export async function waitWithAccess<T>(
  parts: WaitAccessParts,
  exchange: Exchange,
  wait: (gone: AbortSignal) => Promise<T>,
): Promise<T> {
  const [lost, over] = [new AbortController(), new AbortController()];
  const assertPermitted = readPrincipalNow(parts, exchange);
  watchAccess(parts, exchange, {
    over: over.signal,
    onRefused: () => lost.abort(),
  });
  try {
    const result = await wait(AbortSignal.any([exchange.state.end.gone(), parts.stopping, lost.signal]));
    await assertPermitted().catch((error: unknown) => {
      if (isTokenRefusal(error)) throw error;
    });
    return result;
  } finally {
    over.abort(NOT_AWAITED);
  }
}

function readPrincipalNow({ principals }: { readonly principals: Principals }, exchange: Exchange) {
  const { requestId, source, token } = exchange.state;
  if (token === undefined) throw new Error('a route without a token has no access to watch');
  return async (): Promise<Principal> => principals.of(token, { requestId, source, freshMs: SESSION_FRESH_MS });
}
