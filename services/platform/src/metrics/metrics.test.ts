import { describe, expect, test } from '@jest/globals';
import { Counter, Histogram, Registry } from 'prom-client';
import { openMetrics } from './metrics.ts';

describe('the metrics of a program', () => {
  test('are written in the text format of Prometheus', async () => {
    const metrics = openMetrics(false);
    metrics.counter('calls_total', 'Calls.', ['method']).labels('stage').inc(2);
    metrics.gauge('open_things', 'Open things.').labels().set(7);
    metrics.histogram('took_seconds', 'How long it took.', [0.1, 1], ['method']).labels('stage').observe(0.5);

    const lines = (await metrics.text()).split('\n');

    expect(lines).toEqual(
      expect.arrayContaining([
        '# HELP calls_total Calls.',
        '# TYPE calls_total counter',
        'calls_total{method="stage"} 2',
        '# TYPE open_things gauge',
        'open_things 7',
        'took_seconds_bucket{le="0.1",method="stage"} 0',
        'took_seconds_bucket{le="1",method="stage"} 1',
        'took_seconds_bucket{le="+Inf",method="stage"} 1',
        'took_seconds_count{method="stage"} 1',
      ]),
    );
    expect(metrics.contentType).toContain('text/plain');
  });

  test('are shared under the same name, so two parts may use one counter', async () => {
    const metrics = openMetrics(false);

    metrics.counter('calls_total', 'Calls.').labels().inc();
    metrics.counter('calls_total', 'Calls.').labels().inc();

    expect(await metrics.text()).toContain('calls_total 2');
  });

  test('may be collected at the time of the request', async () => {
    const metrics = openMetrics(false);
    let waiting = 3;
    metrics.gauge('waiting', 'Waiting callers.', ['queue'], async (gauge) => {
      gauge.reset();
      gauge.labels(`of ${String(waiting)}`).set(waiting);
    });

    expect(await metrics.text()).toContain('waiting{queue="of 3"} 3');
    waiting = 4;
    expect(await metrics.text()).toContain('waiting{queue="of 4"} 4');
    expect(await metrics.text()).not.toContain('of 3');
  });

  test('of two services are separate', async () => {
    const [one, other] = [openMetrics(false), openMetrics(false)];

    one.counter('calls_total', 'Calls.').labels().inc();

    expect(await other.text()).not.toContain('calls_total');
  });

  test.each([[true], [false]])('include those of the process: %p', async (withProcess) => {
    expect((await openMetrics(withProcess).text()).includes('process_resident_memory_bytes')).toBe(withProcess);
  });

  test('leave out metrics with a hidden label', async () => {
    const metrics = openMetrics(false);
    metrics.counter('a_total', 'Some help', ['secret']).labels('x').inc();
    metrics.counter('b_total', 'Some help', ['open']).labels('y').inc();

    expect(await metrics.text('secret')).not.toContain('a_total');
    expect(await metrics.text('secret')).toContain('b_total{open="y"} 1');
  });

  test('refuse the wrong number of label values', () => {
    const counter = openMetrics(false).counter('a_total', 'Some help', ['one']);

    expect(() => counter.labels('x', 'y')).toThrow('a_total has 1 labels, but 2 values were given');
    expect(() => counter.labels()).toThrow('a_total has 1 labels, but 0 values were given');
  });
});

describe('the text equals that of prom-client', () => {
  test('for a counter', async () => {
    const [ours, registry] = [openMetrics(false), new Registry()];
    const counter = ours.counter('a_total', 'Some help', ['one', 'two']);
    const theirs = new Counter({
      name: 'a_total',
      help: 'Some help',
      labelNames: ['one', 'two'],
      registers: [registry],
    });
    for (const [one, two, count] of [
      ['x', 'y', 1],
      ['x', 'z "quoted"', 2.5],
      ['x', 'y', 3],
    ] as const) {
      counter.labels(one, two).inc(count);
      theirs.inc({ one, two }, count);
    }

    expect(await ours.text()).toBe(await registry.metrics());
  });

  test('for a counter without labels and without a count', async () => {
    const [ours, registry] = [openMetrics(false), new Registry()];
    ours.counter('a_total', 'Some help');
    new Counter({ name: 'a_total', help: 'Some help', registers: [registry] });

    expect(await ours.text()).toBe(await registry.metrics());
  });

  test('for a histogram', async () => {
    const [ours, registry] = [openMetrics(false), new Registry()];
    const [name, help, buckets, labelNames] = ['b_seconds', 'Some help', [0.1, 1, 5], ['route']] as const;
    const histogram = ours.histogram(name, help, buckets, labelNames);
    const theirs = new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [registry] });
    for (const [route, value] of [
      ['/a', 0.1],
      ['/a', 0.5],
      ['/b', 7],
      ['/a', 5],
    ] as const) {
      histogram.labels(route).observe(value);
      theirs.observe({ route }, value);
    }

    expect(await ours.text()).toBe(await registry.metrics());
  });
});
