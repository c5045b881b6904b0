import { emptyResource } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { expect, test } from '@jest/globals';
import { systemClock } from '../clock.ts';
import { systemRandom } from '../ids.ts';
import { Problem } from '../problem.ts';
import { otelTracing } from './otel-tracing.ts';
import type { Tracing } from './trace.ts';
import { NO_SPAN, inSpan } from './trace.ts';

const ALL = { creates: 1, calls: 1, reads: 1 };
const CLIENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
/** Longer ago than this process exists. */
const LONG_AGO = Date.UTC(2026, 0, 1, 12);

function opened(sample = ALL, random = systemRandom): { readonly tracing: Tracing; spans(): ReadableSpan[] } {
  const exporter = new InMemorySpanExporter();
  const queue = new SimpleSpanProcessor({ exporter });
  return {
    tracing: otelTracing({ sample, queue, resource: emptyResource(), random, clock: systemClock }),
    spans: () => exporter.getFinishedSpans(),
  };
}

const msOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;
const byName = (spans: readonly ReadableSpan[], name: string): ReadableSpan =>
  spans.find((span) => span.name === name)!;

test('a child in another process goes below the span whose carrier it was given', () => {
  const [here, there] = [opened(), opened()];
  const root = here.tracing.root('root', { class: 'create', kind: 'server' });

  there.tracing
    .enter(root.carrier)
    .child('child', { attributes: { 'some.count': 3, 'some.absent': undefined } })
    .end();
  root.end();

  const [child] = there.spans();
  const [parent] = here.spans();
  expect(child!.spanContext().traceId).toBe(parent!.spanContext().traceId);
  expect(child!.parentSpanContext?.spanId).toBe(parent!.spanContext().spanId);
  expect(child!.attributes).toEqual({ 'some.count': 3 });
});

test.each([
  ['nothing', undefined],
  ['what no carrier is', 'hello'],
  ['a carrier that says that nothing is recorded', CLIENT.replace(/01$/, '00')],
])('below %s nothing is recorded', (_what, carrier) => {
  const { tracing, spans } = opened();
  const span = tracing.enter(carrier).child('child');
  span.end();

  expect(span).toBe(NO_SPAN);
  expect(tracing.mint(span)).toBeUndefined();
  tracing.writeSpan(carrier, 'written', { from: 1, to: 2 });
  expect(spans()).toEqual([]);
});

test("a client's trace is linked and named, and the new trace has an id of its own", () => {
  const { tracing, spans } = opened();

  const root = tracing.root('root', { class: 'create', client: CLIENT });
  root.end();

  const [span] = spans();
  expect(span!.parentSpanContext).toBeUndefined();
  expect(root.traceId).not.toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  expect(span!.links.map(({ context }) => context.spanId)).toEqual(['00f067aa0ba902b7']);
  expect(span!.attributes['reelgate.client.trace_id']).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
});

test('a span of long ago is written once, with the id that was minted and its own times, by another process', () => {
  const [before, after] = [opened(), opened()];
  const parent = before.tracing.root('request', { class: 'create' });
  const carrier = before.tracing.mint(parent);
  parent.end();

  after.tracing.enter(carrier).child('step').end();
  after.tracing.writeSpan(carrier, 'whole', {
    parent: parent.carrier,
    from: LONG_AGO,
    to: LONG_AGO + 120_500,
    attributes: { 'some.state': 'done' },
    failed: 'too_late',
  });
  after.tracing.root('next', { class: 'create' }).end();

  const [step, whole, next] = ['step', 'whole', 'next'].map((name) => byName(after.spans(), name));
  expect(`00-${whole!.spanContext().traceId}-${whole!.spanContext().spanId}-01`).toBe(carrier);
  expect(step!.parentSpanContext?.spanId).toBe(whole!.spanContext().spanId);
  expect(whole!.parentSpanContext?.spanId).toBe(byName(before.spans(), 'request').spanContext().spanId);
  expect([msOf(whole!.startTime), msOf(whole!.endTime)]).toEqual([LONG_AGO, LONG_AGO + 120_500]);
  expect(whole!.attributes).toEqual({ 'some.state': 'done', 'error.type': 'too_late' });
  expect(next!.spanContext().traceId).not.toBe(whole!.spanContext().traceId);
});

test('a span can begin and end at times before the start of the process', () => {
  const { tracing, spans } = opened();

  tracing.root('root', { class: 'create', at: LONG_AGO }).end(LONG_AGO + 1);

  expect(msOf(spans()[0]!.startTime)).toBe(LONG_AGO);
  expect(msOf(spans()[0]!.endTime)).toBe(LONG_AGO + 1);
});

test('each class is recorded as often as its share says', () => {
  let draws = 0;
  const evenly = (bytes: Uint8Array): void => {
    if (bytes.length !== 4) systemRandom(bytes);
    else new Uint32Array(bytes.buffer)[0] = (((draws++ % 10) + 0.5) / 10) * 2 ** 32;
  };
  const { tracing } = opened({ creates: 1, calls: 0.3, reads: 0 }, evenly);
  const recorded = (['create', 'call', 'read', 'work'] as const).map(
    (kind) =>
      Array.from({ length: 100 }, () => tracing.root('root', { class: kind })).filter((s) => s !== NO_SPAN).length,
  );

  expect(recorded).toEqual([100, 30, 0, 100]);
});

test('work that fails leaves a stable word, and nothing of its message', async () => {
  const { tracing, spans } = opened();
  const root = tracing.root('root', { class: 'create' });
  const refusal = new Problem({ kind: 'invalid', reason: 'too_long', message: 'the prompt "a cat" is too long' });

  await expect(
    inSpan(root, 'refused', {}, async () => {
      throw refusal;
    }),
  ).rejects.toBe(refusal);
  await expect(
    inSpan(root, 'broken', {}, async () => {
      throw new Error('a cat');
    }),
  ).rejects.toThrow();

  expect(spans().map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
    ['refused', 'too_long'],
    ['broken', 'fault'],
  ]);
  expect(JSON.stringify(spans().map(({ attributes, status, events }) => [attributes, status, events]))).not.toContain(
    'a cat',
  );
});

test('a span can name another one while it runs, and nothing for a carrier that is not valid', () => {
  const { tracing, spans } = opened();
  const root = tracing.root('root', { class: 'read' });
  root.link(CLIENT);
  root.link(undefined);
  root.link('hello');
  root.end();

  expect(spans()[0]!.links.map(({ context }) => context.traceId)).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736']);
});

test('what comes after the end of a span changes nothing', () => {
  const { tracing, spans } = opened();
  const root = tracing.root('root', { class: 'create' });
  root.end();

  root.end();
  root.set({ late: true });
  root.fail('late');

  expect(spans()).toHaveLength(1);
  expect(spans()[0]!.attributes).toEqual({});
});
