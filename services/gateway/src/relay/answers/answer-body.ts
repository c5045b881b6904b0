import type { AnswerEdits } from './answer-edits.ts';
import type { HeldHead } from './held-head.ts';
import type { AnswerHeaders } from './call-sink.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { Identities } from './scrub-error.ts';
import type { Fault } from '../protocols/faults.ts';
import type { AnswerPart, StreamFault } from '../protocols/protocol.ts';

/** The progress of an answer so far. */
export interface Progress extends AnswerPart {
  /** True once anything has been sent to the client. */
  readonly begun: boolean;
  /** True once a part of the ordered result has come. */
  readonly delivered: boolean;
}

/** The end of an answer that its upstream did not break off. */
export type AnswerEnding =
  | { readonly how: 'whole' }
  /** It reported a fault, or stopped before its end. The client was informed. */
  | { readonly how: 'broken'; readonly fault: Fault }
  /** It is an error, and no part of it was sent. */
  | { readonly how: 'failed'; readonly fault: Fault };

/** Asks nginx, and proxies that follow it, to pass on each piece of a stream immediately. */
export const UNBUFFERED = { 'x-accel-buffering': 'no' };

export const WHOLE: AnswerEnding = { how: 'whole' };

/** Passes the body of an answer to the sink. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  /** The fault that was reported before anything was sent: the rest of the answer need not come. */
  failure(): Fault | undefined;
  end(trailers: AnswerHeaders): AnswerEnding;
  /** The upstream broke off after the answer had begun. */
  broken(fault: StreamFault): void;
  /** Sends a heartbeat to the client, if this kind of answer has one. */
  beat(): void;
  progress(): Progress;
}

export interface AnswerContext {
  readonly call: RelayCall;
  /** It keeps the beginning of the answer back until something was delivered. */
  readonly sink: HeldHead;
  readonly status: number;
  /** True if only the gateway has requested the usage. */
  readonly asksUsage: boolean;
  /** The headers for the client. */
  readonly headers: AnswerHeaders;
  /** The upstream's declaration. */
  readonly contentLength: number | undefined;
  readonly edits: AnswerEdits;
  /** Names that an error within a stream must not show. */
  readonly identities: Identities;
  /** Stops the upstream until the sink has drained. */
  pause(): void;
}
