import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { newCircuit, newSharedCircuit } from './circuit-breaker.ts';
import type { Circuit } from './circuit-breaker.ts';

const FAULTS = 5;
const OPEN_MS = 30_000;

function opened() {
  const clock = fakeClock();
  const circuit = newCircuit(clock);
  fail(circuit, FAULTS);
  return { clock, circuit };
}

function fail(circuit: Circuit, times: number): void {
  for (let time = 0; time < times; time += 1) circuit.failed();
}

describe('a circuit', () => {
  test('admits every call while it is closed', () => {
    const circuit = newCircuit(fakeClock());

    expect([circuit.mayTry(), circuit.mayTry(), circuit.state()]).toEqual([true, true, 'closed']);
  });

  test('stays closed after four faults in a row and opens at the fifth', () => {
    const circuit = newCircuit(fakeClock());

    fail(circuit, FAULTS - 1);
    expect([circuit.state(), circuit.mayTry()]).toEqual(['closed', true]);

    circuit.failed();
    expect([circuit.state(), circuit.mayTry()]).toEqual(['open', false]);
  });

  test('counts only faults in a row', () => {
    const circuit = newCircuit(fakeClock());

    fail(circuit, FAULTS - 1);
    circuit.worked();
    fail(circuit, FAULTS - 1);

    expect(circuit.state()).toBe('closed');
  });
});

describe('an open circuit', () => {
  test('admits no call for half a minute, then exactly one', async () => {
    const { clock, circuit } = opened();

    await clock.advance(OPEN_MS - 1);
    expect([circuit.state(), circuit.mayTry()]).toEqual(['open', false]);

    await clock.advance(1);
    expect(circuit.state()).toBe('half_open');
    expect([circuit.mayTry(), circuit.mayTry(), circuit.mayTry()]).toEqual([true, false, false]);
  });

  test('admits one call at a time when the caller has no other choice', async () => {
    const { clock, circuit } = opened();

    expect([circuit.mayTryAnyway(), circuit.mayTryAnyway(), circuit.mayTry()]).toEqual([true, false, false]);
    circuit.failed();
    expect([circuit.state(), circuit.mayTryAnyway(), circuit.mayTryAnyway()]).toEqual(['open', true, false]);
    circuit.undecided();
    expect(circuit.mayTryAnyway()).toBe(true);
    await clock.advance(OPEN_MS - 1);
    expect(circuit.mayTryAnyway()).toBe(false);
    circuit.worked();
    expect([circuit.state(), circuit.mayTryAnyway(), circuit.mayTryAnyway()]).toEqual(['closed', true, true]);
  });

  test('closes when its trial call succeeds', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    circuit.mayTry();
    circuit.worked();

    expect([circuit.state(), circuit.mayTry(), circuit.mayTry()]).toEqual(['closed', true, true]);
  });

  test('opens again for the same time when its trial call fails', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    circuit.mayTry();
    circuit.failed();

    expect(circuit.state()).toBe('open');
    await clock.advance(OPEN_MS);
    expect([circuit.state(), circuit.mayTry()]).toEqual(['half_open', true]);
  });

  test('admits another trial call when the first has no outcome', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    circuit.mayTry();
    circuit.undecided();

    expect([circuit.state(), circuit.mayTry(), circuit.mayTry()]).toEqual(['half_open', true, false]);
  });

  test('admits another trial call when the first never reports', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    circuit.mayTry();
    await clock.advance(OPEN_MS);

    expect([circuit.mayTry(), circuit.mayTry()]).toEqual([true, false]);
  });

  test('does not stay open for hours when the clock is set back', async () => {
    const { clock, circuit } = opened();

    await clock.advance(-3_600_000);

    expect([circuit.mayTry(), circuit.mayTry()]).toEqual([true, false]);
  });
});

describe('the faults of callers', () => {
  test('of one caller open the circuit for this caller alone, however many they are', () => {
    const circuit = newCircuit(fakeClock());
    for (let time = 0; time < 4 * FAULTS; time += 1) circuit.failed('one');

    expect([circuit.state(), circuit.isOpenFor('one'), circuit.isOpenFor('two')]).toEqual(['closed', true, false]);
    expect([circuit.mayTry('one'), circuit.mayTry('two'), circuit.mayTry('two')]).toEqual([false, true, true]);
  });

  test('are in a row no more once the peer has refused what this caller asked for', () => {
    const circuit = newCircuit(fakeClock());
    for (let time = 0; time < FAULTS - 1; time += 1) circuit.failed('one');

    circuit.refused('one');
    circuit.failed('one');

    expect(circuit.isOpenFor('one')).toBe(false);
  });

  test('of two callers open it for all', () => {
    const circuit = newCircuit(fakeClock());
    for (const caller of ['one', 'one', 'one', 'two']) circuit.failed(caller);
    expect(circuit.state()).toBe('closed');

    circuit.failed('two');

    expect([circuit.state(), circuit.mayTry('three')]).toEqual(['open', false]);
  });

  test('in a trial decide for no other caller: each may try, and two failures open the circuit again', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    expect(circuit.mayTry('one')).toBe(true);
    circuit.failed('one');
    expect([circuit.state(), circuit.mayTry('one'), circuit.mayTry('two')]).toEqual(['half_open', false, true]);

    circuit.failed('two');
    expect([circuit.state(), circuit.mayTry('three')]).toEqual(['open', false]);
  });

  test('that hang in trials leave trials to others', async () => {
    const { clock, circuit } = opened();
    await clock.advance(OPEN_MS);

    expect(['one', 'one', 'two', 'three', 'four'].map((caller) => circuit.mayTry(caller))).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});

describe('a probe', () => {
  test('that is down opens a circuit, and one that is up closes it again', () => {
    const circuit = newCircuit(fakeClock());

    circuit.probed('down');
    expect(circuit.state()).toBe('open');
    circuit.probed('up');
    expect(circuit.state()).toBe('closed');
  });

  test('that is up does not outweigh the faults of two callers', () => {
    const circuit = newCircuit(fakeClock());
    for (const caller of ['one', 'one', 'one', 'two', 'two']) circuit.failed(caller);

    circuit.probed('up');

    expect(circuit.state()).toBe('open');
  });

  test.each([
    [5, 'open'],
    [0, 'closed'],
  ])('that is up closes no circuit before the replicas have answered with %i faults', (left, state) => {
    const circuit = newSharedCircuit(fakeClock(), () => undefined);
    circuit.learn({ faults: 5, openedAgoMs: 0 });

    circuit.probed('up');
    expect(circuit.state()).toBe('open');
    circuit.learn({ faults: left, openedAgoMs: 0 });
    expect(circuit.state()).toBe(state);
  });

  test('that is down keeps no circuit from being tried', async () => {
    const { clock, circuit } = opened();
    for (let passed = 0; passed < OPEN_MS; passed += 5000) {
      await clock.advance(5000);
      circuit.probed('down');
    }

    expect(circuit.mayTry('one')).toBe(true);
  });

  test('is wanted while there is doubt: an open circuit, or one that is open for one caller', () => {
    const circuit = newCircuit(fakeClock());
    const wanted = [circuit.isSuspected()];
    for (let time = 0; time < FAULTS; time += 1) circuit.failed('one');
    wanted.push(circuit.isSuspected());
    circuit.worked();

    expect([...wanted, circuit.isSuspected()]).toEqual([false, true, false]);
  });
});
