import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerReadableStream } from '@grpc/grpc-js';
import { CallEnded } from '../call-ended.ts';

/** Two were seen. The others are for a process that is busy. */
const TURNS = 10;

/**
 * The requests of a call. When a caller cancels, grpc-js first ends its requests as if they were complete, and reports
 * the cancellation some turns of the event loop later. A part of an upload would look like the whole. A client on Node
 * sends the end before the cancellation, which can therefore come later still: a method for which that matters compares
 * what came with what was announced.
 */
export async function* wholeRequests(call: ServerReadableStream<object, unknown>): AsyncGenerator<object> {
  yield* call as AsyncIterable<object>;
  for (let turn = 0; turn < TURNS && !call.cancelled; turn += 1) await nextTurn();
  if (call.cancelled) throw new CallEnded('cancelled');
}
