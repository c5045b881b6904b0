import type { Clock } from '@reelgate/platform/clock';
import type { CallSink } from './call-sink.ts';

/** Some upstreams repeat the request before they answer. */
const HELD_BYTES_MAX = 256 * 1024;
/**
 * The time after which a silent connection is released: clients and load balancers end a connection that is silent, so
 * an upstream that only keeps it open is passed on.
 */
const HELD_MS_MAX = 10_000;

/**
 * A sink that keeps the beginning of an answer back until a part of the ordered result has come. Until then another
 * channel can still answer, and the client can still get an error with its status.
 */
export interface HeldHead extends CallSink {
  /** Sends the kept bytes. From then on everything passes. */
  release(): void;
  /** Reports whether anything was sent. */
  isReleased(): boolean;
}

/**
 * Creates a sink that also releases the beginning when it is too long, and with the first piece after too long a time.
 */
export function holdHead(sink: CallSink, clock: Clock): HeldHead {
  const until = clock.now() + HELD_MS_MAX;
  let kept: (() => unknown)[] | undefined = [];
  let bytes = 0;
  const release = (): void => {
    const actions = kept ?? [];
    kept = undefined;
    for (const action of actions) action();
  };
  return {
    release,
    isReleased: () => kept === undefined,
    begin: (status, headers) => {
      if (kept === undefined) sink.begin(status, headers);
      else kept.push(() => sink.begin(status, headers));
    },
    write: (chunk) => {
      if (kept === undefined) return sink.write(chunk);
      let mayGoOn = true;
      kept.push(() => {
        mayGoOn = sink.write(chunk);
      });
      bytes += chunk.length;
      if (bytes > HELD_BYTES_MAX || clock.now() >= until) release();
      return mayGoOn;
    },
    onDrain: (resume) => {
      sink.onDrain(resume);
    },
    end: (chunk, trailers) => {
      release();
      sink.end(chunk, trailers);
    },
    broken: () => {
      release();
      sink.broken();
    },
  };
}
