import { readErrorType } from '../problem.ts';

/** A value that a reader may see: no text of a client, no key, no address of a peer. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';

/** The class of a request, which decides how often its trace is recorded. */
export type TraceClass = 'create' | 'call' | 'read' | 'work';

export interface SpanOptions {
  /** By default internal. */
  readonly kind?: SpanKind | undefined;
  /** The time at which it began, in milliseconds since 1970, by default the current time. */
  readonly at?: number | undefined;
  readonly attributes?: Attributes | undefined;
  /** Carriers of spans that it has to do with, and that are not its parent. Those that are not valid are left out. */
  readonly links?: readonly string[] | undefined;
}

/**
 * A part of a recorded trace, or `NO_SPAN`, which is never recorded. It is passed on explicitly: there is no current
 * span.
 */
export interface Span {
  /**
   * The `traceparent` of W3C for work below this span, in a header or in a row. Undefined if the span is not recorded.
   */
  readonly carrier: string | undefined;
  /** For log lines and exemplars. Undefined if the span is not recorded. */
  readonly traceId: string | undefined;
  child(name: string, options?: SpanOptions): Span;
  set(attributes: Attributes): void;
  /** Names a related span. Without a carrier it has no effect. */
  link(carrier: string | undefined): void;
  /** Marks it as failed with a stable word, such as the reason of a problem. */
  fail(type: string): void;
  /** Ends the span. Later calls have no effect. `at` is in milliseconds since 1970, by default the current time. */
  end(at?: number): void;
}

export interface RootOptions extends SpanOptions {
  readonly class: TraceClass;
  /** The `traceparent` that a client sent. It is linked and named, and never continued. */
  readonly client?: string | undefined;
}

/** A span that is written when it is over, perhaps by another process than the one in which it began. */
export interface WrittenSpan {
  /** The carrier of its parent, undefined for the root of a trace. */
  readonly parent?: string | undefined;
  readonly kind?: SpanKind | undefined;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly attributes?: Attributes | undefined;
  readonly links?: readonly string[] | undefined;
  /** The reason for its failure, undefined if it did not fail. */
  readonly failed?: string | undefined;
}

export interface TraceContinuer {
  /**
   * Continues below a carrier that was received or stored. Without a valid one, the result is not recorded. The span
   * behind the carrier is recorded elsewhere: attributes and the end of this object have no effect.
   */
  enter(carrier: string | undefined): Span;
}

/** Records traces. Its functions never throw, and no work waits for the receiver of the spans. */
export interface Tracing extends TraceContinuer {
  /** Begins a trace. Whether it is recorded is decided here, by its class, for everything below it. */
  root(name: string, options: RootOptions): Span;
  /** A carrier in the trace of a span, with the id of a span that is written later. */
  mint(span: Span): string | undefined;
  /**
   * Writes the span with the minted id. The caller ensures that this happens once. It is sent within moments, because
   * no other process would write it if this one died.
   */
  writeSpan(carrier: string | undefined, name: string, span: WrittenSpan): void;
  /** Sends the remaining spans, within a bounded time. */
  stop(): Promise<void>;
}

const nothing = (): void => undefined;

/** The span of work that is not recorded. Its calls are free, and its children are itself. */
export const NO_SPAN: Span = Object.freeze({
  carrier: undefined,
  traceId: undefined,
  child: () => NO_SPAN,
  set: nothing,
  link: nothing,
  fail: nothing,
  end: nothing,
});

/** Tracing that records no spans. */
export const NO_TRACING: Tracing = Object.freeze({
  root: () => NO_SPAN,
  enter: () => NO_SPAN,
  mint: () => undefined,
  writeSpan: nothing,
  stop: async () => undefined,
});

/** Runs work in a child of a span, which ends with the work and fails with it. */
export function inSpan<T>(
  parent: Span | undefined,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return parent === undefined || parent === NO_SPAN ? work(NO_SPAN) : endWith(parent.child(name, options), work);
}

async function endWith<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await work(span);
  } catch (thrown) {
    span.fail(readErrorType(thrown));
    throw thrown;
  } finally {
    span.end();
  }
}
