import { readErrorType } from './error-type.ts';
import type { Span, SpanOptions } from './trace.ts';
import { NO_SPAN } from './trace-none.ts';

/** Runs work in a child of a span, which ends with the work and fails with it. */
export async function inSpan<T>(
  parent: Span | undefined,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (parent === undefined || parent === NO_SPAN) return work(NO_SPAN);
  const span = parent.child(name, options);
  try {
    return await work(span);
  } catch (thrown) {
    span.fail(readErrorType(thrown));
    throw thrown;
  } finally {
    span.end();
  }
}
