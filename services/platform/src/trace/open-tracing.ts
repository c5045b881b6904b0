import { backgroundLog } from '../log.ts';
import { countDroppedSpans, newDroppedSpans } from './dropped-spans.ts';
import type { RecentDrops } from './dropped-spans.ts';
import type { Tracing } from './trace.ts';
import { NO_TRACING } from './trace.ts';
import type { TracingDeps } from './otel-export.ts';
import type { TraceSettings } from './trace-settings.ts';

export interface OpenedTracing {
  readonly tracing: Tracing;
  /** Counts the spans that were dropped lately, undefined if no spans are recorded. */
  readonly recentDrops: (() => RecentDrops) | undefined;
}

/**
 * Loads the SDK only if spans are recorded: without it a start reads no file of it. The counter of dropped spans is
 * there in any case, so an alert never meets a series that is absent.
 */
export async function openTracing(settings: TraceSettings | undefined, deps: TracingDeps): Promise<OpenedTracing> {
  const counter = countDroppedSpans(deps.metrics);
  if (settings === undefined) return { tracing: NO_TRACING, recentDrops: undefined };
  if (settings.otherProtocol !== undefined)
    deps.log.warn({ asked: settings.otherProtocol, sent: 'http/protobuf' }, 'spans are sent over another protocol');
  const dropped = newDroppedSpans(counter, { clock: deps.clock, log: backgroundLog(deps.log) });
  const { newOtelTracing } = await import('./otel-export.ts');
  return { tracing: newOtelTracing(settings, deps, dropped), recentDrops: () => dropped.recent() };
}
