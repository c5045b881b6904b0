import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { CircuitState } from '@reelgate/platform/limits/circuit-breaker';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { HandOverEvent } from '../../store/operator-store.ts';
import { openCircuitWatch } from './watch-circuits.ts';

function opened() {
  const states = new Map<string, CircuitState>([['main', 'closed']]);
  const written: HandOverEvent[] = [];
  const store = { away: false };
  const all = (): unknown =>
    [...states].map(([id, state]) => ({ channel: { settings: { id } }, circuit: { state: () => state } }));
  const channels = { all } as Pick<ChannelRegistry, 'all'>;
  const addHappenings = async (happenings: readonly HandOverEvent[]): Promise<void> => {
    if (store.away) throw new Error('the database is away');
    written.push(...happenings);
  };
  const watch = openCircuitWatch(channels, { addHappenings }, fakeClock(1000));
  return { states, store, written, watch };
}

test('a circuit that opens and closes again is written twice, however many passes see it', async () => {
  const { states, written, watch } = opened();
  await watch.pass();
  states.set('main', 'open');
  await watch.pass();
  states.set('main', 'half_open');
  await watch.pass();
  states.set('main', 'closed');
  await watch.pass();

  expect(written).toEqual([
    { at: 1000, type: 'circuit_opened', subject: 'main' },
    { at: 1000, type: 'circuit_closed', subject: 'main' },
  ]);
});

test('what could not be written is written by the next pass', async () => {
  const { states, store, written, watch } = opened();
  states.set('main', 'open');
  store.away = true;
  await expect(watch.pass()).rejects.toThrow('away');
  store.away = false;
  await watch.pass();

  expect(written).toHaveLength(1);
});
