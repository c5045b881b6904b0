import { describe, expect, test } from '@jest/globals';
import { Counter, Histogram, Registry } from 'prom-client';
import { fakeClock } from '../../testing/fake-clock.ts';
import { newMetrics } from './metrics.ts';

describe('the metrics of a program', () => {
  test('are written in the text format of Prometheus', async () => {
    const metrics = newMetrics(false);
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
  });

  test('are shared under the same name, so two parts may use one counter', async () => {
    const metrics = newMetrics(false);

    metrics.counter('calls_total', 'Calls.').labels().inc();
    metrics.counter('calls_total', 'Calls.').labels().inc();

    expect(await metrics.text()).toContain('calls_total 2');
  });

  test('may begin at 0, so that a rate shows the first burst', async () => {
    const metrics = newMetrics(false);
    const channels = ['main'];
    metrics.counter('calls_total', 'Calls.', ['channel']).begin(() => channels.map((channel) => [channel]));
    metrics.histogram('took_seconds', 'How long it took.', [1], ['channel']).begin(() => [['main']]);

    expect(await metrics.text()).toContain('calls_total{channel="main"} 0');
    expect(await metrics.text()).toContain('took_seconds_bucket{le="1",channel="main"} 0');
    channels.push('second');
    metrics.counter('calls_total', 'Calls.', ['channel']).labels('main').inc();
    expect(await metrics.text()).toContain('calls_total{channel="main"} 1\ncalls_total{channel="second"} 0');
  });

  test('may be collected at the time of the request', async () => {
    const metrics = newMetrics(false);
    let waiting = 3;
    metrics.gauge('waiting', 'Waiting callers.', ['queue'], async (gauge) => {
      gauge.reset();
      gauge.labels(`of ${waiting}`).set(waiting);
    });

    expect(await metrics.text()).toContain('waiting{queue="of 3"} 3');
    waiting = 4;
    expect(await metrics.text()).toContain('waiting{queue="of 4"} 4');
    expect(await metrics.text()).not.toContain('of 3');
  });

  test('may be collected by several parts, each of which replaces only its own values', async () => {
    const metrics = newMetrics(false);
    for (const part of ['one', 'other']) {
      let reads = 0;
      metrics.gauge('waiting', 'Waiting callers.', ['part', 'read'], (gauge) => {
        gauge.reset();
        gauge.labels(part, String((reads += 1))).set(7);
      });
    }
    await metrics.text();

    expect((await metrics.text()).split('\n').filter((line) => line.startsWith('waiting'))).toEqual([
      'waiting{part="one",read="2"} 7',
      'waiting{part="other",read="2"} 7',
    ]);
  });

  test('of two services are separate', async () => {
    const [one, other] = [newMetrics(false), newMetrics(false)];

    one.counter('calls_total', 'Calls.').labels().inc();

    expect(await other.text()).not.toContain('calls_total');
  });

  test.each([[true], [false]])('include those of the process: %p', async (withProcess) => {
    expect((await newMetrics(withProcess).text()).includes('process_resident_memory_bytes')).toBe(withProcess);
  });

  test('leave out metrics with a hidden label', async () => {
    const metrics = newMetrics(false);
    metrics.counter('a_total', 'Some help', ['secret']).labels('x').inc();
    metrics.counter('b_total', 'Some help', ['open']).labels('y').inc();

    expect(await metrics.text('prometheus', 'secret')).not.toContain('a_total');
    expect(await metrics.text('prometheus', 'secret')).toContain('b_total{open="y"} 1');
  });

  test('refuse the wrong number of label values', () => {
    const counter = newMetrics(false).counter('a_total', 'Some help', ['one']);

    expect(() => counter.labels('x', 'y')).toThrow('a_total has 1 labels, but 2 values were given');
    expect(() => counter.labels()).toThrow('a_total has 1 labels, but 0 values were given');
  });
});

describe('the text equals that of prom-client', () => {
  test('for a counter', async () => {
    const [ours, registry] = [newMetrics(false), new Registry()];
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
    const [ours, registry] = [newMetrics(false), new Registry()];
    ours.counter('a_total', 'Some help');
    new Counter({ name: 'a_total', help: 'Some help', registers: [registry] });

    expect(await ours.text()).toBe(await registry.metrics());
  });

  test('for a histogram', async () => {
    const [ours, registry] = [newMetrics(false), new Registry()];
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

describe('OpenMetrics', () => {
  test('shows the last sampled trace of each range as its exemplar, and the other text none', async () => {
    const clock = fakeClock(1_800_000_000_500);
    const metrics = newMetrics(false, clock);
    const took = metrics.histogram('took_seconds', 'How long it took.', [0.1, 1], ['method']).labels('stage');
    took.observe(0.05);
    took.observe(0.5, 'first');
    took.observe(0.75, 'second');
    took.observe(0.6);
    took.observe(30, 'slow');

    expect((await metrics.text('openmetrics')).split('\n')).toEqual([
      '# HELP took_seconds How long it took.',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{le="0.1",method="stage"} 1',
      'took_seconds_bucket{le="1",method="stage"} 4 # {trace_id="second"} 0.75 1800000000.5',
      'took_seconds_bucket{le="+Inf",method="stage"} 5 # {trace_id="slow"} 30 1800000000.5',
      'took_seconds_sum{method="stage"} 31.9',
      'took_seconds_count{method="stage"} 5',
      '# EOF',
      '',
    ]);
    expect(await metrics.text()).not.toContain('trace_id');
  });

  test('names a counter without its ending, and does not change the other text', async () => {
    const metrics = newMetrics(true);
    metrics.counter('calls_total', 'Calls.').labels().inc(3);
    const before = namesIn(await metrics.text());

    const open = await metrics.text('openmetrics');

    expect(open).toContain('# TYPE calls counter\ncalls_total 3\n');
    expect(open).toContain('# TYPE process_cpu_seconds counter\nprocess_cpu_seconds_total ');
    expect(namesIn(await metrics.text())).toEqual(before);
  });
});

function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\w+ \w+)$/gm)].map(([, name = '']) => name);
}
