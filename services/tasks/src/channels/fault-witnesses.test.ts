import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { newFaultWitnesses } from './channel-registry.ts';

const MINUTE_MS = 60_000;

test('an account is alone with its faults while the channel takes the orders of another one', () => {
  const witnesses = newFaultWitnesses(fakeClock());
  const before = witnesses.isAloneWithFault('one');
  witnesses.accepted('one');
  const alsoServed = witnesses.isAloneWithFault('one');
  witnesses.accepted('two');

  expect([before, alsoServed, witnesses.isAloneWithFault('one')]).toEqual([false, false, true]);
});

test('several accounts with faults confirm each other for ten minutes', async () => {
  const clock = fakeClock();
  const witnesses = newFaultWitnesses(clock);
  witnesses.accepted('three');
  const alone = ['one', 'two', 'one'].map((account) => witnesses.isAloneWithFault(account));
  await clock.advance(10 * MINUTE_MS);
  witnesses.accepted('three');

  expect([...alone, witnesses.isAloneWithFault('one')]).toEqual([true, false, false, true]);
});
