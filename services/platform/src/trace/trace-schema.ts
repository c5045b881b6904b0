import { Secret } from '../secret.ts';

const share = (what: string): object => ({
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: `the recorded share of ${what}, from 0 to 1`,
});

/** The JSON Schema of the key `tracing`. The variables of OpenTelemetry and the defaults fill it. */
export const traceSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  properties: {
    endpoint: {
      type: 'string',
      pattern: '^https?://[^\\s?#@]+$',
      description: 'an http:// or https:// address that takes OTLP, without credentials and without a query',
    },
    headers: { type: 'object', additionalProperties: { type: 'string' }, default: {} },
    sample: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        creates: share('requests that create something'),
        calls: share('calls that are passed through'),
        reads: share('other requests'),
      },
    },
  },
} as const;

/** The settings of the configuration. The environment fills in missing ones. */
export interface TraceConfig {
  readonly endpoint: string | undefined;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly sample: Partial<SampleRates>;
}

/** From 0 to 1. */
export interface SampleRates {
  readonly creates: number;
  readonly calls: number;
  readonly reads: number;
}

interface CheckedConfig {
  readonly tracing: {
    readonly endpoint?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly sample: Partial<SampleRates>;
  };
}

/** Reads the settings from a value that the schema has accepted. */
export function traceConfig(value: unknown): TraceConfig {
  const { endpoint, headers, sample } = (value as CheckedConfig).tracing;
  const { creates, calls, reads } = sample;
  return {
    endpoint,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, new Secret(text)])),
    sample: {
      ...(creates === undefined ? {} : { creates }),
      ...(calls === undefined ? {} : { calls }),
      ...(reads === undefined ? {} : { reads }),
    },
  };
}
