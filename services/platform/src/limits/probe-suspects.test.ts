import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { FAULTS_TO_OPEN, newCircuit } from './circuit-breaker.ts';
import { newProber } from './probe-suspects.ts';
import type { ProbeVerdict } from './probe-suspects.ts';

const { signal } = new AbortController();

function opened() {
  const circuit = newCircuit(fakeClock());
  const prober = newProber();
  const of = {};
  let probes = 0;
  /** Probes the peer, which answers so, and tells the state of its circuit. */
  const pass = async (verdict: ProbeVerdict | Error): Promise<string> => {
    const probe = async (): Promise<ProbeVerdict> => {
      probes += 1;
      if (verdict instanceof Error) throw verdict;
      return verdict;
    };
    await prober.pass([{ of, circuit, probe }], signal);
    return circuit.state();
  };
  const failForOne = (): void => {
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) circuit.failed('one');
  };
  return { circuit, pass, failForOne, probes: () => probes };
}

describe('a probe that says that a peer is down', () => {
  test('opens its circuit after the faults of one caller, if it said up while calls worked', async () => {
    const { circuit, pass, failForOne } = opened();
    circuit.worked();
    await pass('up');
    failForOne();

    expect(await pass(new Error('no answer'))).toBe('open');
  });

  test.each<[string, ProbeVerdict | undefined]>([
    ['before a call has worked', undefined],
    ['and said so while calls worked', 'down'],
    ['and said nothing while calls worked', 'unclear'],
  ])('decides nothing %s', async (_when, before) => {
    const { circuit, pass, failForOne } = opened();
    if (before !== undefined) circuit.worked();
    if (before !== undefined) await pass(before);
    failForOne();

    expect(await pass('down')).toBe('closed');
    expect(circuit.isOpenFor('one')).toBe(true);
  });

  test('counts no longer if calls work again and it still says so', async () => {
    const { circuit, pass, failForOne } = opened();
    circuit.worked();
    await pass('up');
    failForOne();
    expect(await pass('down')).toBe('open');
    circuit.worked();
    await pass('down');
    failForOne();

    expect(await pass('down')).toBe('closed');
  });
});

test('a peer without doubt is probed once, after its calls have begun to work', async () => {
  const { circuit, pass, probes } = opened();
  await pass('up');
  const before = probes();
  circuit.worked();
  for (let times = 0; times < 3; times += 1) await pass('up');

  expect([before, probes()]).toEqual([0, 1]);
});
