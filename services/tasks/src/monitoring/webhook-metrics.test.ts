import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { describeOnEngines } from '../../testing/store/describe-on-engines.ts';
import { openDeliveryWorld } from '../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../testing/webhooks/open-delivery-world.ts';
import { watchWebhooks, webhookMetrics } from './webhook-metrics.ts';
import { webhookSelfChecks } from './tasks-self-checks.ts';

const shown = async (metrics: ReturnType<typeof newMetrics>, pattern: RegExp): Promise<string[]> =>
  (await metrics.text()).split('\n').filter((line) => pattern.test(line));

test('the outcomes of attempts and the disabled endpoints are counted from 0 on', async () => {
  const metrics = newMetrics(false);
  const count = webhookMetrics(metrics);
  count.webhookAttempt('to_repeat', 700);
  count.endpointDisabled('gone');

  expect(await shown(metrics, /_total\{|_seconds_bucket\{le="(0.5|1)"/)).toEqual([
    'reelgate_webhook_attempts_total{outcome="to_repeat"} 1',
    'reelgate_webhook_attempts_total{outcome="delivered"} 0',
    'reelgate_webhook_attempts_total{outcome="given_up"} 0',
    'reelgate_webhook_attempt_seconds_bucket{le="0.5",outcome="to_repeat"} 0',
    'reelgate_webhook_attempt_seconds_bucket{le="1",outcome="to_repeat"} 1',
    'reelgate_webhook_endpoints_disabled_total{reason="gone"} 1',
    'reelgate_webhook_endpoints_disabled_total{reason="failing"} 0',
  ]);
});

describeOnEngines('what waits', (open) => {
  const gradesOf = async ({ deps: { webhooks, clock } }: DeliveryWorld) =>
    Promise.all(
      webhookSelfChecks({ webhooks, clock }).map(async ({ part, check }) => [
        part,
        await check(new AbortController().signal),
      ]),
    );

  test('is shown by the gauges and judged for the operator', async () => {
    const world = await openDeliveryWorld(open());
    const { clock, deps } = world;
    const metrics = newMetrics(false, clock);
    watchWebhooks(gaugeSampler(metrics, { service: 'tasks', clock, log: silentLog }), deps);
    const gauges = (): Promise<string[]> => shown(metrics, /^reelgate_(events|webhook)/);
    await world.addEndpoint('whe_1');
    await world.happen({ id: 'evt_1' });
    await clock.advance(400_000);
    expect((await gauges()).slice(0, 2)).toEqual([
      'reelgate_events_undispatched 1',
      'reelgate_events_undispatched_oldest_seconds 400',
    ]);
    expect(await gradesOf(world)).toMatchObject([
      ['events', { grade: 'fail', detail: '1 undispatched events wait, the oldest for 400 s' }],
      ['webhooks', { grade: 'ok' }],
    ]);

    await world.dispatch();
    await clock.advance(130_000);

    expect(await gauges()).toEqual([
      'reelgate_events_undispatched 0',
      'reelgate_events_undispatched_oldest_seconds 0',
      'reelgate_webhook_deliveries_pending 1',
      'reelgate_webhook_due_lag_seconds 130',
      'reelgate_webhook_endpoints_off 0',
    ]);
    expect(await gradesOf(world)).toMatchObject([
      ['events', { grade: 'ok' }],
      ['webhooks', { grade: 'warn', detail: 'due deliveries wait, the oldest for 130 s' }],
    ]);

    await world.answer(await world.lease(), 410);
    await clock.advance(20_000);

    expect((await gauges()).slice(2)).toEqual([
      'reelgate_webhook_deliveries_pending 0',
      'reelgate_webhook_due_lag_seconds 0',
      'reelgate_webhook_endpoints_off 1',
    ]);
  });
});
