import { expect, test } from '@jest/globals';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { openChannelRegistry } from './channels/channel-registry.ts';
import { watchCircuits } from './tasks-metrics.ts';
import { channelSettings } from '../testing/channel-settings.ts';
import type { Channel } from './channels/channel.ts';

test('the metrics contain the circuit state of each channel at the time of the request', async () => {
  const metrics = openMetrics(false);
  const channels = openChannelRegistry([channelSettings()], {
    clock: fakeClock(),
    adapters: { scripted: (settings) => ({ settings }) as Channel },
    chance: () => 0.5,
  });
  watchCircuits(metrics, channels);
  expect(await metrics.text()).toContain('reelgate_channel_circuit{channel="main"} 0');

  for (let fault = 0; fault < 5; fault += 1) channels.find('main')!.circuit.failed();
  expect(await metrics.text()).toContain('reelgate_channel_circuit{channel="main"} 2');
});
