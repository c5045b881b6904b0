import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../../problem.ts';
import { toConnectError } from '../problems.ts';
import { MESSAGE_BYTES_MAX } from '../service.ts';
import type { Caller } from '../service.ts';

/** The maximum number of bytes of requests that one port keeps in memory, and that it keeps for one caller. */
const PORT_BYTES_MAX = 32 * MESSAGE_BYTES_MAX;
const CALLER_BYTES_MAX = 16 * MESSAGE_BYTES_MAX;
const RETRY_MS = 1000;

/** The part of a request that the library reads. */
type Body = Pick<IncomingMessage, typeof Symbol.asyncIterator>;
/** Limits the body of a request, so that its reader reads only as much as the bounds permit. */
export type BoundBody = (request: Body, response: Pick<ServerResponse, 'once'>, findCaller: () => Caller) => void;

export interface BodyBounds {
  readonly portBytesMax: number;
  readonly callerBytesMax: number;
}

/**
 * Bounds the bytes of requests in memory, in total and for each caller. A caller is known before the first byte is
 * read. A body counts as it arrives, with one message at most, until its answer is over, because a stream of messages
 * is read one by one. A refusal arrives as an error of the body, which the library answers in each protocol.
 */
export function newBodyBounds(
  { portBytesMax, callerBytesMax }: BodyBounds = { portBytesMax: PORT_BYTES_MAX, callerBytesMax: CALLER_BYTES_MAX },
): BoundBody {
  const byCaller = new Map<string, number>();
  let total = 0;
  const add = (caller: string, bytes: number): void => {
    total += bytes;
    const left = (byCaller.get(caller) ?? 0) + bytes;
    if (left === 0) byCaller.delete(caller);
    else byCaller.set(caller, left);
  };
  const take = (caller: string, bytes: number): void => {
    if (total + bytes > portBytesMax || (byCaller.get(caller) ?? 0) + bytes > callerBytesMax) throw tooManyBytes();
    add(caller, bytes);
  };
  return (request, response, findCaller) => {
    const read = request[Symbol.asyncIterator].bind(request);
    let release = (): void => undefined;
    let isOver = false;
    response.once('close', () => {
      isOver = true;
      release();
    });
    const readCounted = async function* (): AsyncGenerator<Buffer> {
      try {
        const { name } = findCaller();
        let taken = 0;
        release = () => add(name, -taken);
        for await (const chunk of read() as AsyncIterable<Buffer>) {
          const more = isOver ? 0 : Math.min(chunk.byteLength, MESSAGE_BYTES_MAX - taken);
          take(name, more);
          taken += more;
          yield chunk;
        }
      } catch (refusal) {
        throw refusal instanceof Problem ? toConnectError(refusal) : refusal;
      }
    };
    Object.defineProperty(request, Symbol.asyncIterator, { value: readCounted });
  };
}

function tooManyBytes(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'service_unavailable',
    message: 'the service has too many bytes of requests in memory; try again',
    retryAfterMs: RETRY_MS,
  });
}
