import type { Span, Tracing } from './trace.ts';

const nothing = (): void => undefined;

/** The span of everything that is not recorded. Its calls cost nothing, and its children are itself. */
export const NO_SPAN: Span = Object.freeze({
  carrier: undefined,
  traceId: undefined,
  child: () => NO_SPAN,
  set: nothing,
  link: nothing,
  fail: nothing,
  end: nothing,
});

/** Records nothing. */
export const NO_TRACING: Tracing = Object.freeze({
  root: () => NO_SPAN,
  enter: () => NO_SPAN,
  mint: () => undefined,
  writeSpan: nothing,
  stop: async () => undefined,
});
