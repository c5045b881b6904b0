import type { AnswerHeaders, CallSink } from './call-sink.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import type { Identities } from './scrub-error.ts';
import type { StreamFault, Usage } from '../protocols/protocol.ts';

/** What is known of an answer so far. */
export interface Progress {
  /** Whether the client has been sent anything. */
  readonly begun: boolean;
  readonly usage: Usage | undefined;
  /** Bytes of generated text. */
  readonly textBytes: number;
}

/** How the body of an answer goes to the sink. */
export interface AnswerBody {
  take(chunk: Buffer): void;
  end(trailers: AnswerHeaders): void;
  /** The upstream broke off after the answer had begun. */
  broken(fault: StreamFault): void;
  /** Shows the client that the answer goes on, where the kind of answer has a way to. */
  beat(): void;
  progress(): Progress;
}

export interface AnswerContext {
  readonly call: RelayCall;
  readonly sink: CallSink;
  readonly status: number;
  /** Those that come back to the client. */
  readonly headers: AnswerHeaders;
  /** As the upstream declared it. */
  readonly contentLength: string | undefined;
  readonly hider: ModelHider;
  /** What an upstream's fault within a stream may not tell. */
  readonly identities: Identities;
  /** Whether the model's name has to be hidden. */
  readonly hides: boolean;
  /** Nothing more should come until the sink has drained. */
  pause(): void;
}
