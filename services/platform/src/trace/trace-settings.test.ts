import { expect, test } from '@jest/globals';
import { Secret } from '../secret.ts';
import { traceConfig, traceSettings } from './trace-settings.ts';

const NOTHING = traceConfig({ tracing: { headers: {}, sample: {} } });
const FILE = traceConfig({ tracing: { endpoint: 'http://file:4318/', headers: { key: 'k' }, sample: { calls: 0.5 } } });
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318' };

test.each([
  ['nothing', NOTHING, {}, undefined],
  ['an address for every kind of telemetry', NOTHING, ENDPOINT, 'http://all:4318/v1/traces'],
  [
    'an address for traces, which is used as it is',
    NOTHING,
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces/own' },
    'http://traces/own',
  ],
  ['the file, which wins', FILE, ENDPOINT, 'http://file:4318/v1/traces'],
  ['an empty variable', NOTHING, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, undefined],
  ['a disabled SDK', FILE, { OTEL_SDK_DISABLED: 'True' }, undefined],
  ['no exporter', FILE, { OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('spans go where the settings say: %s', (_what, config, environment, url) => {
  expect(traceSettings(config, environment)?.url).toBe(url);
});

test('an address that is none is refused at the start, by the name of its variable', () => {
  expect(() => traceSettings(NOTHING, { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http:// or https:// address',
  );
});

test.each([
  ['none', undefined, undefined, { creates: 1, calls: 0.05, reads: 0.001 }],
  ['always_on', 'always_on', undefined, { creates: 1, calls: 1, reads: 1 }],
  ['parentbased_always_off', 'parentbased_always_off', undefined, { creates: 0, calls: 0, reads: 0 }],
  ['traceidratio', 'traceidratio', '0.25', { creates: 0.25, calls: 0.25, reads: 0.25 }],
  ['an unknown one', 'jaeger_remote', '0.25', { creates: 1, calls: 0.05, reads: 0.001 }],
])('the sampler of the environment decides what the file leaves out: %s', (_what, sampler, argument, expected) => {
  const environment = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument };

  expect(traceSettings(NOTHING, environment)?.sample).toEqual(expected);
  expect(traceSettings(FILE, environment)?.sample).toEqual({ ...expected, calls: 0.5 });
});

test('an ended span is sent within a second unless the environment asks for more', () => {
  expect(traceSettings(NOTHING, ENDPOINT)?.batch.delayMs).toBeLessThan(1000);
  expect(traceSettings(NOTHING, { ...ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: '5000' })?.batch.delayMs).toBe(5000);
});

test('the queue has the bounds of the environment, and a number that cannot be used counts as none', () => {
  const environment = {
    ...ENDPOINT,
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_BSP_SCHEDULE_DELAY: '-1',
    OTEL_BSP_EXPORT_TIMEOUT: '20',
  };

  expect(traceSettings(NOTHING, environment)?.batch).toEqual({
    queueMax: 100,
    batchMax: 100,
    delayMs: 500,
    exportMs: 20,
  });
});

test.each([
  ['none', {}, undefined],
  ['the one that is spoken', { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, undefined],
  ['another one', { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'grpc'],
  [
    'another one, but not for traces',
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf' },
    undefined,
  ],
])('a protocol that is not spoken is told of: %s', (_what, environment, other) => {
  expect(traceSettings(NOTHING, { ...ENDPOINT, ...environment })?.otherProtocol).toBe(other);
});

test('the headers of the receiver are secrets', () => {
  expect(FILE.headers).toEqual({ key: expect.any(Secret) });
  expect(JSON.stringify(traceSettings(FILE, {}))).not.toContain('"k"');
});
