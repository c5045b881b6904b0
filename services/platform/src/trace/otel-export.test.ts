import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { openOtlpSink } from '../../testing/otlp-sink.ts';
import type { OtlpSink } from '../../testing/otlp-sink.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newIds, systemRandom } from '../ids.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { currentRequestId, currentTraceId, inRequest, inTrace } from '../request-context.ts';
import { openTracing } from './open-tracing.ts';
import type { Tracing } from './trace.ts';
import { traceConfig, traceSettings } from './trace-settings.ts';
import type { BatchSettings } from './trace-settings.ts';

/** What is shipped. */
const SHIPPED = traceSettings(traceConfig({ tracing: { endpoint: 'http://receiver' } }), {})!.batch;
const PARTS = {
  name: 'one',
  clock: systemClock,
  random: systemRandom,
  newId: newIds(systemClock),
  log: silentLog,
};
const SAMPLE = { creates: 1, calls: 1, reads: 1 };

let sink: OtlpSink;
const running: { readonly tracing: Tracing; readonly clock: Clock | FakeClock }[] = [];

beforeEach(async () => {
  sink = await openOtlpSink();
});

afterEach(async () => {
  sink.answer(200);
  for (const { tracing, clock } of running.splice(0)) {
    const stopped = tracing.stop();
    if ('advance' in clock) await clock.advance(2000);
    await stopped;
  }
  await sink.close();
});

async function opened(batch: Partial<BatchSettings> = {}, clock: Clock | FakeClock = systemClock) {
  const [metrics, lines] = [newMetrics(false), [] as object[]];
  const { tracing, recentDrops } = await openTracing(
    {
      url: `${sink.endpoint}/v1/traces`,
      headers: { 'x-receiver': new Secret('receiver-key') },
      tls: {},
      isZipped: false,
      sample: SAMPLE,
      batch: { ...SHIPPED, ...batch },
    },
    {
      ...PARTS,
      clock,
      log: {
        ...silentLog,
        warn: (fields) => void lines.push({ ...fields, request: currentRequestId(), trace: currentTraceId() }),
      },
      metrics,
    },
  );
  running.push({ tracing, clock });
  let written = 0;
  const spans = (number: number): void => {
    for (const last = written + number; written < last; written += 1)
      tracing.root(`span ${written}`, { class: 'create' }).end();
  };
  return { tracing, recentDrops: recentDrops!, spans, lines, text: () => metrics.text() };
}

/** Lets answers that have been sent be read. */
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
};
const names = (): readonly string[] => sink.spans.map(({ name }) => name);

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
  const { tracing, spans } = await opened({ delayMs: 3_600_000 }, clock);
  const whole = tracing.mint(tracing.root('root', { class: 'create' }));
  spans(1);
  await clock.advance(1000);
  expect(sink.spans).toEqual([]);

  for (const name of ['whole', 'repeat']) tracing.writeSpan(whole, name, { from: 1, to: 2 });
  await clock.advance(200);
  await until(() => sink.spans.length === 3);

  expect(names()).toEqual(['span 0', 'whole', 'repeat']);
  expect(sink.headers).toHaveLength(1);
});

test('a span is sent in its time while the receiver has not answered the batches before it', async () => {
  const clock = fakeClock();
  const { spans } = await opened({}, clock);
  sink.hold();

  for (let sent = 1; sent <= 5; sent += 1) {
    spans(1);
    await clock.advance(SHIPPED.delayMs);
    await until(() => sink.spans.length === sent);
  }

  expect(names()).toEqual(['span 0', 'span 1', 'span 2', 'span 3', 'span 4']);
});

test.each([
  ['refuses for a moment', 1000],
  ['is away for almost as long as a batch is tried', SHIPPED.exportMs - 1000],
])('a receiver that %s gets every span once within a second of its return', async (_what, awayMs) => {
  const clock = fakeClock();
  const { spans, text } = await opened({}, clock);
  sink.answer(503);
  spans(2);
  for (let ms = 0; ms < awayMs; ms += 500) {
    const requests = sink.headers.length;
    spans(1);
    await clock.advance(500);
    // one batch at a time asks whether the receiver is back
    await until(() => sink.headers.length === requests + 1);
    await settled();
  }
  const before = sink.headers.length;

  sink.answer(200);
  for (let ms = 0; ms < 1000; ms += 500) {
    await clock.advance(500);
    await until(() => sink.headers.length > before);
    await settled();
  }
  await until(() => sink.spans.length >= 2 + awayMs / 500);

  expect(names().toSorted()).toEqual(Array.from({ length: 2 + awayMs / 500 }, (_, at) => `span ${at}`).toSorted());
  expect(await text()).not.toMatch(/reelgate_trace_spans_dropped_total{.*} [1-9]/);
});

test('a full queue drops spans, counts them, and writes one line a minute that names no request', async () => {
  const clock = fakeClock();
  const { spans, lines, text, recentDrops } = await opened({ batchMax: 2, queueMax: 2, exportMs: 600_000 }, clock);
  sink.answer(503);
  await inRequest('first', async () => {
    spans(2);
    await until(() => sink.headers.length === 1);
    await settled();
  });

  // Two of them wait.
  inRequest('of another', () => {
    inTrace('4bf9', () => {
      spans(12);
    });
  });

  expect(await text()).toContain('reelgate_trace_spans_dropped_total{reason="queue_full"} 10');
  expect(recentDrops()).toEqual({ spans: 10, reasons: ['queue_full'], fault: undefined });
  await clock.advance(60_000);
  inRequest('of another', () => {
    spans(1);
  });
  const about = { reason: 'queue_full', fault: undefined, request: undefined, trace: undefined };
  expect(lines).toEqual([
    { ...about, dropped: 1 },
    { ...about, dropped: 10 },
  ]);
});

test('a receiver that is away costs a batch after its time, which is counted', async () => {
  const clock = fakeClock();
  const { spans, recentDrops, text } = await opened({ exportMs: 1000 }, clock);
  sink.answer(503);
  inRequest('of another', () => {
    spans(2);
  });
  const isDropped = (): boolean => recentDrops().spans === 2;
  await until(async () => {
    await clock.advance(100);
    return isDropped();
  });

  expect(recentDrops()).toEqual({ spans: 2, reasons: ['not_sent'], fault: 'the receiver answered 503' });
  expect(await text()).toContain('reelgate_trace_spans_dropped_total{reason="not_sent"} 2');
  await clock.advance(15 * 60_000);
  expect(recentDrops()).toEqual({ spans: 0, reasons: [], fault: undefined });
});

test('a receiver that refuses costs the spans, which are counted, and nothing is thrown', async () => {
  const { tracing, spans, lines, text } = await opened();
  sink.answer(400);
  spans(2);

  await tracing.stop();

  expect(await text()).toContain('reelgate_trace_spans_dropped_total{reason="not_sent"} 2');
  expect(lines).toEqual([{ dropped: 2, reason: 'not_sent', fault: 'the receiver answered 400' }]);
});

test('a receiver that is away holds the stop for two seconds at most, and what it does not take is counted', async () => {
  const clock = fakeClock();
  const { tracing, spans, recentDrops } = await opened({}, clock);
  sink.answer(503);
  spans(1);

  const stopped = tracing.stop();
  await until(() => sink.headers.length === 1);
  await settled();
  await clock.advance(2000);

  await expect(stopped).resolves.toBeUndefined();
  await until(() => recentDrops().spans === 1);
});

test('every reason of a dropped span has a series at 0 from the start, with a receiver and without one', async () => {
  const { text } = await opened();
  const metrics = newMetrics(false);
  await openTracing(undefined, { ...PARTS, metrics });

  for (const shown of [await text(), await metrics.text()])
    expect(shown.split('\n').filter((line) => line.startsWith('reelgate_trace'))).toEqual([
      'reelgate_trace_spans_dropped_total{reason="queue_full"} 0',
      'reelgate_trace_spans_dropped_total{reason="not_sent"} 0',
    ]);
});

test('without a receiver no file of the SDK is loaded', () => {
  const module = new URL('./open-tracing.ts', import.meta.url).href;
  const program =
    `const { registerHooks } = await import('node:module'); const seen = []; ` +
    `registerHooks({ resolve: (name, context, next) => { seen.push(name); return next(name, context); } }); ` +
    `const { openTracing } = await import('${module}'); await openTracing(undefined, { metrics: { counter: () => ({ begin: () => undefined }) } }); ` +
    `console.log(JSON.stringify(seen))`;
  const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program];
  const seen = execFileSync(process.execPath, node, { encoding: 'utf8' });

  expect(seen).toContain('trace.ts');
  expect(seen).not.toContain('opentelemetry');
});
