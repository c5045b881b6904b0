import type { Attributes, Span, SpanOptions, Tracing } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';

/** A span that has ended. */
export interface RecordedSpan {
  readonly name: string;
  readonly carrier: string;
  readonly parent: string | undefined;
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly links: readonly string[];
  readonly failed: string | undefined;
}

export interface RecordedTracing extends Tracing {
  /** The spans that have ended, in that order. */
  readonly spans: readonly RecordedSpan[];
  named(name: string): readonly RecordedSpan[];
}

/** Records every trace in memory. */
export function recordedTracing(now: () => number): RecordedTracing {
  const spans: RecordedSpan[] = [];
  let ids = 0;
  const nextId = (digits: number): string => (ids += 1).toString(16).padStart(digits, '0');
  const carrierIn = (traceId: string): string => `00-${traceId}-${nextId(16)}-01`;
  const begin = (name: string, parent: string | undefined, options: SpanOptions): Span => {
    const carrier = carrierIn(parent?.slice(3, 35) ?? nextId(32));
    const from = options.at ?? now();
    let attributes = { ...options.attributes };
    let failed: string | undefined;
    const links = [...(options.links ?? [])];
    let isOver = false;
    return {
      carrier,
      traceId: carrier.slice(3, 35),
      child: (below, more = {}) => begin(below, carrier, more),
      set: (more) => {
        attributes = { ...attributes, ...more };
      },
      link: (other) => {
        if (other !== undefined) links.push(other);
      },
      fail: (type) => {
        failed = type;
      },
      end: (to = now()) => {
        if (!isOver)
          spans.push({
            ...{ name, carrier, parent, kind: options.kind ?? 'internal', from, to },
            ...{ attributes, links, failed },
          });
        isOver = true;
      },
    };
  };
  return {
    spans,
    named: (name) => spans.filter((span) => span.name === name),
    root: (name, options) => begin(name, undefined, options),
    enter: (carrier) =>
      carrier === undefined
        ? NO_SPAN
        : { ...NO_SPAN, carrier, child: (name, options = {}) => begin(name, carrier, options) },
    mint: ({ carrier }) => (carrier === undefined ? undefined : carrierIn(carrier.slice(3, 35))),
    writeSpan: (carrier, name, { parent, kind = 'internal', from, to, attributes = {}, links = [], failed }) => {
      if (carrier !== undefined) spans.push({ name, carrier, parent, kind, from, to, attributes, links, failed });
    },
    stop: async () => undefined,
  };
}
