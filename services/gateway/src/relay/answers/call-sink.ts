import type { Clock } from '@reelgate/platform/clock';

/** Names in lower case; several values of one name as a list. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The destination of an answer: a client, or the result of an asynchronous job. */
export interface CallSink {
  /** Takes the head of the answer. The first bytes can follow much later. */
  begin(status: number, headers: AnswerHeaders): void;
  /** Takes a piece. Returns false if the caller should wait until the sink has drained. */
  write(chunk: Buffer): boolean;
  /** Sets the function that is called when the sink has drained. */
  onDrain(resume: () => void): void;
  /** Ends the answer with the last piece, if there is one, and the trailers. */
  end(chunk: Buffer | undefined, trailers: AnswerHeaders): void;
  /** Breaks the answer off, so that its reader notices that it is incomplete. */
  broken(): void;
}

interface AnswerTarget {
  readonly sink: CallSink;
  /** Aborted when the client has left, or when the gate can no longer open. */
  readonly gone: AbortSignal;
}

/** Keeps the answer of a call back until the gate opens, and cancels the call if it never does. */
export function gateAnswer({ sink, gone }: AnswerTarget, gate: Promise<unknown>): AnswerTarget {
  const over = new AbortController();
  const end = (): void => over.abort();
  if (gone.aborted) end();
  gone.addEventListener('abort', end, { once: true });
  gate.catch(end);
  return { sink: gateSink(sink, gate), gone: over.signal };
}

/**
 * Wraps a sink so that it keeps pieces until the gate opens. Each kept piece asks the upstream to wait, so the kept
 * bytes are those of one read of its connection, or an answer that is held in any case.
 */
function gateSink(sink: CallSink, gate: Promise<unknown>): CallSink {
  let kept: (() => void)[] | undefined = [];
  let resume: (() => void) | undefined;
  let mayResume = false;
  const pass = (action: () => void): void => {
    if (kept === undefined) action();
    else kept.push(action);
  };
  const open = (): void => {
    const actions = kept ?? [];
    kept = undefined;
    for (const action of actions) action();
    // the kept bytes leave first: a stream has sent more meanwhile, which takes time to read
    if (mayResume) setImmediate(() => resume?.());
  };
  void gate.then(open, () => undefined);
  return {
    begin: (status, headers) => {
      pass(() => sink.begin(status, headers));
    },
    write: (chunk) => {
      if (kept === undefined) return sink.write(chunk);
      kept.push(() => {
        // a full sink resumes by itself when it has drained
        mayResume = sink.write(chunk);
      });
      return false;
    },
    onDrain: (next) => {
      resume = next;
      sink.onDrain(next);
    },
    end: (chunk, trailers) => {
      pass(() => sink.end(chunk, trailers));
    },
    broken: () => {
      pass(() => sink.broken());
    },
  };
}

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
    onDrain: (resume) => sink.onDrain(resume),
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
