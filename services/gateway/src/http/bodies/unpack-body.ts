import type { IncomingHttpHeaders } from 'node:http';
import type { Transform } from 'node:stream';
import { CONTENT_CODINGS, findUnpacker } from '@reelgate/platform/http/content-codings';
import type { OpenUnpacker } from '@reelgate/platform/http/content-codings';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

const SHOWN_MAX = 40;

/** Consumes a chunk. The next one comes when it has resolved. */
export type Sink = (chunk: Buffer) => Promise<unknown> | undefined;

/** Reads the packing of a body; undefined if the body is not packed. Refuses a packing that cannot be undone. */
export function readUnpacker({ 'content-encoding': encoding = '' }: IncomingHttpHeaders): OpenUnpacker | undefined {
  if (!isPacked({ 'content-encoding': encoding })) return undefined;
  const open = findUnpacker(encoding);
  if (open !== undefined) return open;
  throw refuse('unsupported_content_encoding', {
    message: `content-encoding must be one of ${CONTENT_CODINGS} or absent; it is ${encoding.slice(0, SHOWN_MAX)}`,
  });
}

/** Reports whether a body has another length than its headers declare. */
export function isPacked({ 'content-encoding': encoding = '' }: IncomingHttpHeaders): boolean {
  return !['', 'identity'].includes(encoding.trim().toLowerCase());
}

/** Unpacks a body that arrives in chunks. */
export interface BodyUnpacker {
  /** Resolves when the sink has all that the chunk holds. */
  readonly write: (chunk: Buffer) => Promise<unknown>;
  /** Resolves when the sink has everything. Refuses a truncated body. */
  end(): Promise<unknown>;
  stop(): void;
}

/** Passes the unpacked bytes of a body to the sink. The sink's error ends the body. */
export function unpackTo(open: OpenUnpacker, sink: Sink): BodyUnpacker {
  let unpacker: Transform | undefined;
  const failure = Promise.withResolvers<never>();
  // the error is thrown by the next write, or by the one that waits
  failure.promise.catch(() => undefined);
  const fail = (error: unknown): void => {
    unpacker?.destroy();
    failure.reject(error);
  };
  const take = async (stream: Transform, piece: Buffer): Promise<void> => {
    try {
      const taken = sink(piece);
      if (taken === undefined) return;
      stream.pause();
      await taken;
      stream.resume();
    } catch (error) {
      fail(error);
    }
  };
  const begin = (first: number): Transform => {
    const stream = open(first);
    stream.on('data', (piece: Buffer) => void take(stream, piece));
    stream.on('error', () => fail(unreadableBody()));
    return stream;
  };
  const race = (over: Promise<unknown>): Promise<unknown> => Promise.race([failure.promise, over]);
  return {
    write: (chunk) => {
      const stream = (unpacker ??= begin(chunk[0] ?? 0));
      return race(new Promise<void>((resolve) => stream.write(chunk, () => resolve())));
    },
    end: () => {
      const stream = (unpacker ??= begin(0));
      const ended = new Promise((resolve) => stream.once('end', resolve));
      stream.end();
      return race(ended);
    },
    stop: () => {
      unpacker?.destroy();
    },
  };
}

function unreadableBody(): Problem {
  return refuse('invalid_request', { message: 'the body must be complete and packed as its content-encoding says' });
}
