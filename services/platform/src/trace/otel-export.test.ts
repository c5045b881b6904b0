import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { openOtlpSink } from '../../testing/otlp-sink.ts';
import type { OtlpSink } from '../../testing/otlp-sink.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newIds, systemRandom } from '../ids.ts';
import { silentLog } from '../log.ts';
import { openMetrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { openTracing } from './open-tracing.ts';
import type { Tracing } from './trace.ts';
import type { BatchSettings } from './trace-settings.ts';

const BATCH: BatchSettings = { queueMax: 3, batchMax: 3, delayMs: 60_000, exportMs: 5000 };
const SAMPLE = { creates: 1, calls: 1, reads: 1 };

let sink: OtlpSink;
const tracings: Tracing[] = [];

beforeEach(async () => {
  sink = await openOtlpSink();
});

afterEach(async () => {
  for (const tracing of tracings.splice(0)) await tracing.stop();
  await sink.close();
});

async function opened(batch: Partial<BatchSettings> = {}, clock: Clock = systemClock) {
  const [metrics, lines] = [openMetrics(false), [] as object[]];
  const tracing = await openTracing(
    {
      url: `${sink.endpoint}/v1/traces`,
      headers: { 'x-receiver': new Secret('receiver-key') },
      sample: SAMPLE,
      batch: { ...BATCH, ...batch },
    },
    {
      name: 'one',
      clock,
      random: systemRandom,
      newId: newIds(clock),
      log: { ...silentLog, warn: (fields) => void lines.push(fields) },
      metrics,
    },
  );
  tracings.push(tracing);
  const spans = (number: number): void => {
    for (let at = 0; at < number; at += 1) tracing.root(`span ${at}`, { class: 'create' }).end();
  };
  return { tracing, spans, lines, text: () => metrics.text() };
}

test('a stop sends what waits, with the headers of the receiver and the name of the program', async () => {
  const { tracing } = await opened();
  const root = tracing.root('root', { class: 'create', kind: 'server', attributes: { 'http.route': '/v1/things' } });
  root.child('child', { kind: 'client' }).end();
  root.end();

  await tracing.stop();

  const [child, parent] = sink.spans;
  expect([parent!.name, parent!.kind, parent!.attributes]).toEqual(['root', 'server', { 'http.route': '/v1/things' }]);
  expect([child!.name, child!.kind, child!.parentSpanId]).toEqual(['child', 'client', parent!.spanId]);
  expect(parent!.resource['service.name']).toBe('one');
  expect(sink.headers[0]).toMatchObject({ 'x-receiver': 'receiver-key', 'content-type': 'application/x-protobuf' });
});

test('a span that was written at its end is sent within moments, however long a batch may wait', async () => {
  const clock = fakeClock();
  const { tracing, spans } = await opened({ queueMax: 10, delayMs: 3_600_000 }, clock);
  const whole = tracing.mint(tracing.root('root', { class: 'create' }));
  spans(1);
  await clock.advance(1000);
  expect(sink.spans).toEqual([]);

  for (const name of ['whole', 'repeat']) tracing.written(whole, name, { from: 1, to: 2 });
  await clock.advance(200);
  await until(() => sink.spans.length === 3);

  expect(sink.spans.map(({ name }) => name)).toEqual(['span 0', 'whole', 'repeat']);
  expect(sink.headers).toHaveLength(1);
});

test('a full queue drops spans, counts them, and writes one line a minute', async () => {
  const clock = fakeClock();
  const { spans, lines, text } = await opened({ batchMax: 2, queueMax: 2 }, clock);
  sink.answer(503);

  // Two are being sent and two wait.
  spans(14);

  expect(await text()).toContain('reelgate_trace_spans_dropped_total{reason="queue_full"} 10');
  expect(lines).toEqual([{ dropped: 1, reason: 'queue_full', fault: undefined }]);
  await clock.advance(60_000);
  spans(1);
  expect(lines.at(-1)).toMatchObject({ dropped: 10 });
  sink.answer(200);
});

test('a receiver that refuses costs the spans, which are counted, and nothing is thrown', async () => {
  const { tracing, spans, lines, text } = await opened();
  sink.answer(400);
  spans(2);

  await tracing.stop();

  expect(await text()).toContain('reelgate_trace_spans_dropped_total{reason="not_sent"} 2');
  expect(lines).toHaveLength(1);
});

test('a receiver that is away holds the stop for two seconds at most', async () => {
  const clock = fakeClock();
  const { tracing, spans } = await opened({}, clock);
  sink.answer(503);
  spans(1);

  const stopped = tracing.stop();
  await clock.advance(2000);

  await expect(stopped).resolves.toBeUndefined();
  sink.answer(200);
});

test('without a receiver no file of the SDK is loaded', () => {
  const module = new URL('./open-tracing.ts', import.meta.url).href;
  const program =
    `const { registerHooks } = await import('node:module'); const seen = []; ` +
    `registerHooks({ resolve: (name, context, next) => { seen.push(name); return next(name, context); } }); ` +
    `const { openTracing } = await import('${module}'); await openTracing(undefined, {}); ` +
    `console.log(JSON.stringify(seen))`;
  const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  const seen = execFileSync(process.execPath, node, { encoding: 'utf8' });

  expect(seen).toContain('trace-none.ts');
  expect(seen).not.toContain('opentelemetry');
});
