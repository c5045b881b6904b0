import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { newAuthority } from '../../testing/certificates.ts';
import { openOtlpSink } from '../../testing/otlp-sink.ts';
import type { OtlpSink } from '../../testing/otlp-sink.ts';
import { systemClock } from '../clock.ts';
import { newIds, systemRandom } from '../ids.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { openTracing } from './open-tracing.ts';
import { traceConfig, traceSettings } from './trace-settings.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-receiver-'));
const authority = newAuthority();
const stranger = newAuthority('another authority');
let sink: OtlpSink | undefined;

afterEach(async () => {
  await sink?.close();
});
afterAll(() => {
  authority.end();
  stranger.end();
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Sends a span to the sink with these variables. Returns why it was dropped, or undefined. */
async function sendOne(
  environment: Readonly<Record<string, string>>,
  headers: object = {},
): Promise<string | undefined> {
  const config = traceConfig({ tracing: { endpoint: sink!.endpoint, headers, sample: { creates: 1 } } });
  const { tracing, recentDrops } = await openTracing(traceSettings(config, environment), {
    name: 'one',
    clock: systemClock,
    random: systemRandom,
    newId: newIds(systemClock),
    log: silentLog,
    metrics: newMetrics(false),
  });
  tracing.root('span', { class: 'create' }).end();
  await tracing.stop();
  return recentDrops!().fault;
}

test('the headers of the environment are sent, and those of the file win over them', async () => {
  sink = await openOtlpSink();
  const environment = {
    OTEL_EXPORTER_OTLP_HEADERS: 'x-all=of every signal,x-both=of every signal, x-coded=a%2Cb ,broken,=none',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-both=of traces,x-file=of the environment',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  };

  await sendOne(environment, { 'x-file': 'of the file' });

  expect(sink.headers[0]).toMatchObject({
    'x-all': 'of every signal',
    'x-both': 'of traces',
    'x-coded': 'a,b',
    'x-file': 'of the file',
    'content-encoding': 'gzip',
  });
  expect(sink.spans.map(({ name }) => name)).toEqual(['span']);
});

test.each([
  ['takes a part of the spans', Buffer.from('0a020801', 'hex'), false, 'the receiver took only a part'],
  ['takes them and answers what cannot be read', Buffer.from('hello'), false, undefined],
  ['takes them and breaks off', Buffer.from('0a02', 'hex'), true, undefined],
])('a receiver that %s gets them once', async (_what, body, isCut, fault) => {
  sink = await openOtlpSink();
  sink.body(body, isCut);

  expect(await sendOne({})).toBe(fault);
  expect(sink.spans.map(({ name }) => name)).toEqual(['span']);
});

test('an https receiver is trusted by the authority of the environment, and gets our certificate', async () => {
  const own = authority.issue();
  const client = authority.issue({ name: 'reelgate' });
  sink = await openOtlpSink({
    cert: own.certificate,
    key: own.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: true,
  });

  await sendOne({
    OTEL_EXPORTER_OTLP_CERTIFICATE: fileOf('ca.crt', authority.certificate),
    OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: fileOf('client.crt', client.certificate),
    OTEL_EXPORTER_OTLP_CLIENT_KEY: fileOf('client.key', client.key),
  });

  expect(sink.spans.map(({ name }) => name)).toEqual(['span']);
});

test('a receiver with a certificate of another authority gets nothing, and the drop says why', async () => {
  const { certificate, key } = stranger.issue();
  sink = await openOtlpSink({ cert: certificate, key });

  const fault = await sendOne({ OTEL_EXPORTER_OTLP_CERTIFICATE: fileOf('ca.crt', authority.certificate) });

  expect(sink.headers).toEqual([]);
  expect(fault).toContain('certificate');
});

test.each([
  [{ OTEL_EXPORTER_OTLP_CERTIFICATE: '/absent/ca.crt' }, 'OTEL_EXPORTER_OTLP_CERTIFICATE: must name a file'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'key=100%' }, 'OTEL_EXPORTER_OTLP_HEADERS: a value must be in URL encoding'],
])('a variable that cannot be used is refused at the start: %p', (environment, message) => {
  const config = traceConfig({ tracing: { endpoint: 'https://receiver:4318', headers: {}, sample: {} } });

  expect(() => traceSettings(config, environment)).toThrow(message);
});
