import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PeerCertificate } from 'node:tls';
import { Metadata } from '@grpc/grpc-js';
import type { Deadline, ServerReadableStream } from '@grpc/grpc-js';
import { CallEnded } from '../../problem.ts';
import { readRequestId } from '../../request-context.ts';
import { readPeer } from '../../source-address.ts';
import { readCertificateNames } from '../../tls/peer-names.ts';
import type { CallBounds } from '../call-bounds.ts';
import { TRACE_HEADER } from '../call-span.ts';
import type { IncomingCall, Peer } from '../served-method.ts';

/** Two were seen. The others are for a process that is busy. */
const TURNS = 10;

/**
 * One error for all calls: the library reports an end after every call, and a new error each time would cost its stack.
 */
const CALLER_LEFT = new Error('the call is over');

/** The part of a call that its caller is known by. */
interface CallHead {
  readonly metadata: Metadata;
  /** The address and the port, with a colon between; IPv6 has no brackets. */
  getPeer(): string;
  getAuthContext(): { readonly sslPeerCertificate?: PeerCertificate };
}

/** The part that all kinds of calls have in common. */
interface ServerCall extends CallHead {
  readonly cancelled: boolean;
  getDeadline(): Deadline;
  sendMetadata(metadata: Metadata): void;
  on(event: 'cancelled', listener: () => void): unknown;
}

/** Reads the facts about the caller of a call. */
export function readCallPeer(call: CallHead): Peer {
  return {
    authorization: readFirst(call.metadata, 'authorization'),
    peerNames: () => readPeerNames(call),
    peerAddress: () => readPeer(removePort(call.getPeer())),
  };
}

/** Reads the facts about a call from its metadata and its connection. */
export function toIncomingCall(call: ServerCall): IncomingCall {
  return {
    ...readCallPeer(call),
    requestId: readRequestId(readFirst(call.metadata, 'x-request-id')),
    carrier: readFirst(call.metadata, TRACE_HEADER),
    bounds: readBounds(call),
    setHeader: (name, value) => {
      const metadata = new Metadata();
      metadata.set(name, value);
      call.sendMetadata(metadata);
    },
  };
}

function removePort(peer: string): string {
  return peer.slice(0, peer.lastIndexOf(':'));
}

function readPeerNames(call: CallHead): readonly string[] {
  const { sslPeerCertificate: certificate } = call.getAuthContext();
  return certificate === undefined ? [] : readCertificateNames(certificate);
}

function readBounds(call: ServerCall): CallBounds {
  const gone = new AbortController();
  const leave = (): void => gone.abort(CALLER_LEFT);
  if (call.cancelled) leave();
  else call.on('cancelled', leave);
  return { deadline: Number(call.getDeadline()), gone: gone.signal };
}

function readFirst(metadata: Metadata, name: string): string | undefined {
  return metadata.get(name)[0]?.toString();
}

/**
 * Yields the requests of a call. When a caller cancels, grpc-js first ends its requests as if they were complete, and
 * reports the cancellation some ticks of the event loop later. A part of an upload would look like the whole. A client
 * on Node sends the end before the cancellation, which can therefore come even later. A method for which that matters
 * compares the received requests with the announced number.
 */
export async function* wholeRequests(call: ServerReadableStream<object, unknown>): AsyncGenerator<object> {
  yield* call as AsyncIterable<object>;
  for (let turn = 0; turn < TURNS && !call.cancelled; turn += 1) await nextTurn();
  if (call.cancelled) throw new CallEnded('cancelled');
}
