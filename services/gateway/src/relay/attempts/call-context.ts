import type { Clock } from '@reelgate/platform/clock';
import type { CallSink } from '../answers/call-sink.ts';
import type { RelayChannel } from '../channels/relay-channels.ts';
import type { CallObserver } from '../observe-call.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { CallWatch } from './watch-calls.ts';

/** The state that the steps of a relayed call share. */
export interface CallContext {
  readonly call: RelayCall;
  /** The channels that can take the call, in the order in which they are tried. */
  readonly channels: readonly RelayChannel[];
  readonly sink: CallSink;
  /** Aborted when the client has left. */
  readonly gone: AbortSignal;
  readonly clock: Clock;
  readonly watch: CallWatch;
  readonly observer: CallObserver;
}
