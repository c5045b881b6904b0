import { number, readSection, record, secret, text } from '../config/settings.ts';
import type { EntryOf, ValuesOf } from '../config/settings.ts';

export interface SampleRates {
  readonly creates: number;
  readonly calls: number;
  readonly reads: number;
}

export const DEFAULT_SAMPLE: SampleRates = { creates: 1, calls: 0.05, reads: 0.001 };

const share = (what: string, byDefault: number) =>
  number(`the recorded share of ${what}`, {
    min: 0,
    max: 1,
    absent: `\`OTEL_TRACES_SAMPLER\`, or ${byDefault}`,
    expects: `the recorded share of ${what}, from 0 to 1`,
  });

/** The key `tracing`. The variables of OpenTelemetry and the defaults fill what it leaves out. */
export const traceKeys = {
  endpoint: text('the receiver of OTLP over HTTP in protobuf; `/v1/traces` is added', {
    absent:
      '`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, which is used as it is, or `OTEL_EXPORTER_OTLP_ENDPOINT`; ' +
      'without them nothing is recorded',
    pattern: '^https?://[^\\s?#@]+$',
    expects: 'an http:// or https:// address that takes OTLP, without credentials and without a query',
  }),
  headers: record(
    'headers that are sent with each batch of spans, besides `OTEL_EXPORTER_OTLP_HEADERS`',
    secret('the value of a header'),
    { default: {} },
  ),
  sample: {
    creates: share('requests that create something', DEFAULT_SAMPLE.creates),
    calls: share('relayed calls', DEFAULT_SAMPLE.calls),
    reads: share('other requests', DEFAULT_SAMPLE.reads),
  },
};

export type TraceConfig = ValuesOf<typeof traceKeys>;

/** Reads the settings from a value that the schema has accepted. */
export function traceConfig(value: unknown): TraceConfig {
  return readSection(traceKeys, (value as { readonly tracing: EntryOf<typeof traceKeys> }).tracing, 'tracing');
}
