import { ROOT_CONTEXT, SpanKind as OtelKind, TraceFlags, trace, SpanStatusCode } from '@opentelemetry/api';
import type {
  Context,
  SpanContext,
  SpanOptions as OtelOptions,
  Link,
  Span as OtelSpan,
  HrTime,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { SpanProcessor, IdGenerator } from '@opentelemetry/sdk-trace';
import type { Clock } from '../clock.ts';
import type { Random } from '../ids.ts';
import type { Span, SpanKind, SpanOptions, TraceClass, Tracing, WrittenSpan } from './trace.ts';
import { NO_SPAN } from './trace.ts';
import type { SampleRates } from './trace-settings.ts';
import { toCarrier, parseTraceparent } from './traceparent.ts';

/** A span that is written when it is over is sent after this time, with those that follow it until then. */
const WRITTEN_MS_MAX = 200;
const LIMITS = { attributeCountLimit: 64, attributeValueLengthLimit: 256, linkCountLimit: 16, eventCountLimit: 0 };

const KINDS: Readonly<Record<SpanKind, OtelKind>> = {
  internal: OtelKind.INTERNAL,
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
};

export interface OtelTracingDeps {
  readonly sample: SampleRates;
  readonly queue: SpanProcessor;
  readonly resource: Resource;
  readonly random: Random;
  readonly clock: Clock;
}

/** Traces with the SDK of OpenTelemetry, which is called only for recorded spans. */
export function otelTracing({ sample, queue, resource, random, clock }: OtelTracingDeps): Tracing {
  const ids = otelIds(random);
  const provider = new TracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    idGenerator: ids.generator,
    spanProcessors: [queue],
    spanLimits: LIMITS,
  });
  const tracer = provider.getTracer('reelgate');
  const isRecorded = newSampler(sample, random);
  const start = (parent: Context, name: string, options: SpanOptions): Span =>
    otelSpan(tracer.startSpan(name, otelOptions(options), parent), start);
  const write = (own: SpanContext, name: string, span: WrittenSpan): void => {
    const options = otelOptions({ ...span, at: span.from });
    const written = ids.with(own, () => tracer.startSpan(name, options, findParent(own, span.parent)));
    if (span.failed !== undefined) setFailed(written, span.failed);
    written.end(hrTime(span.to));
  };
  const stopping = new AbortController();
  let sending: Promise<void> | undefined;
  const sendSoon = (): void => {
    sending ??= clock.sleep(WRITTEN_MS_MAX, stopping.signal).then(async () => {
      sending = undefined;
      await queue.forceFlush().catch(() => undefined);
    });
  };
  return {
    root: (name, { class: kind, client, ...options }) => {
      if (!isRecorded(kind)) return NO_SPAN;
      const sent = parseTraceparent(client);
      if (client === undefined || sent === undefined) return start(ROOT_CONTEXT, name, options);
      const attributes = { ...options.attributes, 'reelgate.client.trace_id': sent.traceId };
      return start(ROOT_CONTEXT, name, { ...options, attributes, links: [...(options.links ?? []), client] });
    },
    enter: (carrier) => {
      const context = toSpanContext(carrier);
      return carrier === undefined || context === undefined ? NO_SPAN : newRemoteSpan(carrier, context, start);
    },
    mint: ({ traceId }) => (traceId === undefined ? undefined : toCarrier(traceId, ids.generator.generateSpanId())),
    writeSpan: (carrier, name, span) => {
      const own = toSpanContext(carrier);
      if (own === undefined) return;
      write(own, name, span);
      sendSoon();
    },
    stop: async () => {
      stopping.abort();
      await provider.shutdown().catch(() => undefined);
    },
  };
}

/** A span behind a carrier. It ends elsewhere. */
function newRemoteSpan(carrier: string, context: SpanContext, start: StartSpan): Span {
  const parent = trace.setSpanContext(ROOT_CONTEXT, context);
  return {
    carrier,
    traceId: context.traceId,
    child: (name, options = {}) => start(parent, name, options),
    set: () => undefined,
    link: () => undefined,
    fail: () => undefined,
    end: () => undefined,
  };
}

/** Returns undefined if the carrier is not valid, or not sampled. */
function toSpanContext(carrier: string | undefined): SpanContext | undefined {
  const parsed = parseTraceparent(carrier);
  if (parsed?.isSampled !== true) return undefined;
  return { traceId: parsed.traceId, spanId: parsed.spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** A parent in another trace cannot be one. */
function findParent(own: SpanContext, carrier: string | undefined): Context {
  const parent = toSpanContext(carrier);
  return parent?.traceId === own.traceId ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function newSampler(sample: SampleRates, random: Random): (kind: TraceClass) => boolean {
  const shares: Readonly<Record<TraceClass, number>> = {
    create: sample.creates,
    call: sample.calls,
    read: sample.reads,
    // It continues from recorded work.
    work: 1,
  };
  const drawn = new Uint32Array(1);
  const bytes = new Uint8Array(drawn.buffer);
  return (kind) => {
    const share = shares[kind];
    if (share >= 1 || share <= 0) return share >= 1;
    random(bytes);
    return (drawn[0] ?? 0) / 2 ** 32 < share;
  };
}

function otelOptions({ kind = 'internal', at, attributes = {}, links }: SpanOptions): OtelOptions {
  return {
    kind: KINDS[kind],
    attributes: { ...attributes },
    ...(at === undefined ? {} : { startTime: hrTime(at) }),
    ...(links === undefined ? {} : { links: links.flatMap(linksTo) }),
  };
}

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

interface OtelIds {
  readonly generator: IdGenerator;
  /** Starts one span with these ids. The library asks for ids while it starts a span, and at no other time. */
  with<T>(ids: SpanIds, start: () => T): T;
}

function otelIds(random: Random): OtelIds {
  let planned: SpanIds | undefined;
  const bytes = Buffer.alloc(TRACE_ID_BYTES);
  const hex = (length: number): string => {
    random(bytes);
    // ids of zeros alone are not valid
    bytes[0] = Math.max(1, bytes[0] ?? 1);
    return bytes.toString('hex', 0, length);
  };
  return {
    generator: {
      generateTraceId: () => planned?.traceId ?? hex(TRACE_ID_BYTES),
      generateSpanId: () => planned?.spanId ?? hex(SPAN_ID_BYTES),
    },
    with: (ids, start) => {
      planned = ids;
      try {
        return start();
      } finally {
        planned = undefined;
      }
    },
  };
}

type StartSpan = (parent: Context, name: string, options: SpanOptions) => Span;

/** A recorded span that ends here. */
function otelSpan(span: OtelSpan, start: StartSpan): Span {
  const context = span.spanContext();
  return {
    carrier: toCarrier(context.traceId, context.spanId),
    traceId: context.traceId,
    child: (name, options = {}) => start(trace.setSpanContext(ROOT_CONTEXT, context), name, options),
    set: (attributes) => {
      if (span.isRecording()) span.setAttributes({ ...attributes });
    },
    link: (carrier) => {
      if (span.isRecording()) span.addLinks(linksTo(carrier));
    },
    fail: (type) => {
      if (span.isRecording()) setFailed(span, type);
    },
    end: (at) => {
      if (span.isRecording()) span.end(at === undefined ? undefined : hrTime(at));
    },
  };
}

/** The message of an error could say anything, so only the word is kept. */
function setFailed(span: OtelSpan, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns an empty list for an invalid carrier. */
function linksTo(carrier: string | undefined): Link[] {
  const told = parseTraceparent(carrier);
  if (told === undefined) return [];
  const { traceId, spanId, isSampled } = told;
  return [
    { context: { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true } },
  ];
}

/** Seconds and nanoseconds. The SDK would take a number for a time since the start of this process. */
function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
