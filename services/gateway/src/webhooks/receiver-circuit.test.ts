import { expect, test } from '@jest/globals';
import { aLeasedReceiver, aMadeAttempt } from '../../testing/a-webhook-fixture.ts';
import { openCircuit } from './serve-receiver.ts';

const FAILED = 'status';

/** The attempts that a receiver gets that fails each of them, all that may be under way ending together. */
function countAttempts(failures: number): number {
  const circuit = openCircuit(aLeasedReceiver({ failures }));
  let attempts = 0;
  for (let together = circuit.concurrency(); together > 0; together = circuit.concurrency()) {
    const begun = circuit.count();
    attempts += together;
    for (let index = 0; index < together; index += 1) circuit.note(aMadeAttempt(FAILED, begun));
  }
  return attempts;
}

test.each([
  // four under way together count once, then one at a time
  [0, 8],
  [1, 4],
  [4, 1],
  // a receiver that rested gets a trial
  [5, 1],
  [90, 1],
])('a receiver with %i failures before gets %i attempts that fail', (failures, attempts) => {
  expect(countAttempts(failures)).toBe(attempts);
});

test('a success lets four attempts be under way again', () => {
  const circuit = openCircuit(aLeasedReceiver({ failures: 5, circuit: 30n }));
  expect(circuit.concurrency()).toBe(1);
  circuit.note(aMadeAttempt('', 30n));

  expect([circuit.concurrency(), circuit.count()]).toEqual([4, 31n]);
});
