import { beforeEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { newMetrics } from '../metrics/metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { newWrongKeys } from './wrong-keys.ts';
import type { WrongKeys } from './wrong-keys.ts';

let clock: FakeClock;
let metrics: Metrics;
let warnings: object[];
let wrongKeys: WrongKeys;
beforeEach(() => {
  clock = fakeClock();
  metrics = newMetrics(false);
  warnings = [];
  wrongKeys = newWrongKeys({
    door: 'operators',
    clock,
    log: { warn: (fields) => void warnings.push(fields) },
    metrics,
  });
});
const note = (address: string, times: number): void => {
  for (let time = 0; time < times; time += 1) wrongKeys.note(address, 'wrong');
};
const line = (address: string, keys: number): object => ({ door: 'operators', address, wrongKeys: keys });

test('an address has a warning at once, and then one a minute with the number since the last', async () => {
  note('192.0.2.1', 2000);
  expect(warnings).toEqual([line('192.0.2.1', 1)]);

  await clock.advance(59_999);
  note('192.0.2.1', 1);
  expect(warnings).toHaveLength(1);

  await clock.advance(1);
  note('192.0.2.1', 1);
  expect(warnings.at(-1)).toEqual(line('192.0.2.1', 2001));
});

test('two addresses have a warning each, and two of one IPv6 network have one', () => {
  for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8:0:0:0:0:0:1', '2001:db8:0:0:0:0:0:2']) note(address, 1);

  expect(warnings).toEqual([line('192.0.2.1', 1), line('192.0.2.2', 1), line('2001:db8:0:0:0:0:0:1', 1)]);
});

test('very many addresses do not fill the log, and the metric counts each key', async () => {
  for (let index = 0; index < 20_000; index += 1) note(`10.0.${index >> 8}.${index & 255}`, 1);

  expect(warnings).toHaveLength(60);
  expect(await metrics.text()).toContain('reelgate_wrong_keys_total{door="operators",outcome="wrong"} 20000');
});

test('the metric is there before the first key', async () => {
  expect(await metrics.text()).toContain('reelgate_wrong_keys_total{door="operators",outcome="refused"} 0');
});
