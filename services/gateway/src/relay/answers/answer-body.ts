import type { AnswerHeaders, CallSink } from './call-sink.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { Identities } from './scrub-error.ts';
import type { StreamFault, Usage } from '../protocols/protocol.ts';

/** The progress of an answer so far. */
export interface Progress {
  /** True once anything has been sent to the client. */
  readonly begun: boolean;
  readonly usage: Usage | undefined;
  /** Bytes of generated text. */
  readonly textBytes: number;
}

/** Passes the body of an answer to the sink. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  end(trailers: AnswerHeaders): void;
  /** The upstream broke off after the answer had begun. */
  broken(fault: StreamFault): void;
  /** Sends a heartbeat to the client, if this kind of answer has one. */
  beat(): void;
  progress(): Progress;
}

export interface AnswerContext {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly status: number;
  /** The headers for the client. */
  readonly headers: AnswerHeaders;
  /** The upstream's declaration. */
  readonly contentLength: string | undefined;
  readonly hider: ModelHider;
  /** Names that an error within a stream must not show. */
  readonly identities: Identities;
  /** True if the model's name must be hidden. */
  readonly hides: boolean;
  /** Stops the upstream until the sink has drained. */
  pause(): void;
}
