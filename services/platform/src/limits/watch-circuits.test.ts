import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { CircuitState } from './circuit-breaker.ts';
import { newCircuitWatch } from './watch-circuits.ts';
import type { CircuitChange } from './watch-circuits.ts';

function opened() {
  const states = new Map<string, CircuitState>([['main', 'closed']]);
  const written: CircuitChange[] = [];
  const store = { away: false };
  const watch = newCircuitWatch(
    () => [...states].map(([id, state]) => ({ id, circuit: { state: () => state } })),
    async (changes) => {
      if (store.away) throw new Error('the store is away');
      written.push(...changes);
    },
    fakeClock(1000),
  );
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

test('an open circuit that a configuration removes is not said to work again', async () => {
  const { states, written, watch } = opened();
  states.set('main', 'open');
  await watch.pass();
  states.delete('main');
  await watch.pass();

  expect(written).toEqual([{ at: 1000, type: 'circuit_opened', subject: 'main' }]);
});
