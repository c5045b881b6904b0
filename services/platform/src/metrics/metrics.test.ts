import { describe, expect, test } from '@jest/globals';
import { openMetrics } from './metrics.ts';

describe('the numbers of a service', () => {
  test('are written as Prometheus reads them', async () => {
    const metrics = openMetrics(false);
    metrics.counter('calls_total', 'Calls.', ['method']).inc({ method: 'stage' }, 2);
    metrics.gauge('open_things', 'Open things.').set(7);
    metrics.histogram('took_seconds', 'How long it took.', [0.1, 1], ['method']).observe({ method: 'stage' }, 0.5);

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

  test('are the same under the same name, so that two parts may count together', async () => {
    const metrics = openMetrics(false);

    metrics.counter('calls_total', 'Calls.').inc();
    metrics.counter('calls_total', 'Calls.').inc();

    expect(await metrics.text()).toContain('calls_total 2');
  });

  test('may be looked up when they are asked for', async () => {
    const metrics = openMetrics(false);
    let waiting = 3;
    metrics.gauge('waiting', 'How many wait.', [], async (gauge) => {
      gauge.set(waiting);
    });

    expect(await metrics.text()).toContain('waiting 3');
    waiting = 4;
    expect(await metrics.text()).toContain('waiting 4');
  });

  test('of two services are apart', async () => {
    const [one, other] = [openMetrics(false), openMetrics(false)];

    one.counter('calls_total', 'Calls.').inc();

    expect(await other.text()).not.toContain('calls_total');
  });

  test.each([[true], [false]])('have those of the process: %p', async (withProcess) => {
    expect((await openMetrics(withProcess).text()).includes('process_resident_memory_bytes')).toBe(withProcess);
  });
});
