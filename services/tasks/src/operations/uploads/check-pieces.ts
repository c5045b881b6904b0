import { createHash } from 'node:crypto';
import type { Clock } from '@reelgate/platform/clock';
import { Problem } from '@reelgate/platform/problem';

/** The longest time without a piece. */
const IDLE_MS_MAX = 30_000;
/** The longest upload. A server of HTTP waits five minutes for the end of a request. */
const UPLOAD_MS_MAX = 4 * 60_000;
const RETRY_MS = 1000;
const MIB = 1024 ** 2;

export interface ExpectedPieces {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Undefined: not known. */
  readonly bytes: number | undefined;
  /** Empty: not known. */
  readonly sha256: string;
  readonly bytesMax: number;
  /** Aborted when no reader is left. */
  readonly ended: AbortSignal;
}

/** Yields the pieces as they come, and throws before its end if they are not as expected. */
export async function* checkPieces(
  clock: Clock,
  expected: ExpectedPieces,
  onFault: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const iterator = expected.pieces[Symbol.asyncIterator]();
  const end = clock.now() + UPLOAD_MS_MAX;
  let bytes = 0;
  try {
    for (;;) {
      const waitMs = Math.min(IDLE_MS_MAX, end - clock.now());
      const next = await awaitPiece(clock, waitMs, iterator.next(), expected.ended);
      if (next.done === true) break;
      bytes += next.value.byteLength;
      assertRoom(bytes, expected);
      hash.update(next.value);
      if (next.value.byteLength > 0) yield next.value;
    }
    assertWhole(bytes, hash.digest('hex'), expected);
  } catch (error) {
    onFault(error);
    throw error;
  }
}

/** The next piece, or a refusal when the time is over or no reader is left. */
async function awaitPiece<T>(clock: Clock, ms: number, next: Promise<T>, ended: AbortSignal): Promise<T> {
  const waiting = new AbortController();
  const stop = (): void => {
    waiting.abort();
  };
  ended.addEventListener('abort', stop, { once: true });
  const late = clock.sleep(ms, waiting.signal).then(() => {
    throw tooSlow();
  });
  try {
    return await Promise.race([next, late]);
  } finally {
    ended.removeEventListener('abort', stop);
    stop();
  }
}

function tooSlow(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'upload_too_slow',
    message:
      `a piece must come within ${IDLE_MS_MAX / 1000} s, and the last one within ` +
      `${UPLOAD_MS_MAX / 1000} s; send the upload again from its first byte`,
    retryAfterMs: RETRY_MS,
  });
}

function assertRoom(came: number, { bytes, bytesMax }: ExpectedPieces): void {
  if (bytes !== undefined && came > bytes) throw wrong('header.bytes', `is ${bytes}, but more bytes came`);
  if (came <= bytesMax) return;
  throw new Problem({
    kind: 'invalid',
    reason: 'body_too_large',
    field: 'data',
    message: `must be at most ${Math.floor((bytesMax / MIB) * 1000) / 1000} MiB in all for this kind`,
  });
}

function assertWhole(came: number, digest: string, { bytes, sha256 }: ExpectedPieces): void {
  if (came === 0) throw wrong('data', 'is required; send the bytes after the header');
  if (bytes !== undefined && came < bytes) throw wrong('header.bytes', `is ${bytes}, but only ${came} bytes came`);
  if (sha256 !== '' && sha256 !== digest)
    throw wrong('header.sha256', `is ${sha256}, but that of the bytes that came is ${digest}`);
}

function wrong(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });
}
