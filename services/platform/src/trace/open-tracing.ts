import type { Tracing } from './trace.ts';
import type { TracingDeps } from './tracing-deps.ts';
import { NO_TRACING } from './trace-none.ts';
import type { TraceSettings } from './trace-settings.ts';

/** Loads the SDK only if spans are recorded: without it a start reads no file of it. */
export async function openTracing(settings: TraceSettings | undefined, deps: TracingDeps): Promise<Tracing> {
  if (settings === undefined) return NO_TRACING;
  if (settings.otherProtocol !== undefined)
    deps.log.warn({ asked: settings.otherProtocol, sent: 'http/protobuf' }, 'spans are sent over another protocol');
  const { openOtelTracing } = await import('./otel-export.ts');
  return openOtelTracing(settings, deps);
}
