import { expect, test } from '@jest/globals';
import { confirmText, consequenceText } from './consequence.ts';

const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });

test.each([
  ['completed', usd('0.4'), usd('0.1'), 'Charges $0.40 and returns $0.10.', 'Charge $0.40'],
  ['completed', usd('0.4'), usd('0'), 'Charges $0.40 and returns nothing.', 'Charge $0.40'],
  ['completed', usd('0.4'), undefined, 'Charges $0.40 and returns nothing.', 'Charge $0.40'],
  ['failed', usd('0'), usd('0.5'), 'Charges nothing and returns $0.50.', 'Return $0.50'],
  ['failed', undefined, usd('0.5'), 'Charges nothing and returns $0.50.', 'Return $0.50'],
  ['retry', undefined, undefined, 'Moves no money now.', 'Try again'],
  ['completed', usd('0.00'), undefined, 'Moves no money now.', 'Decide'],
] as const)('%s with charge %j and release %j says "%s"', (resolution, charge, release, consequence, confirm) => {
  const decision = {
    resolution,
    ...(charge === undefined ? {} : { charge }),
    ...(release === undefined ? {} : { release }),
  };

  expect(consequenceText(decision)).toBe(consequence);
  expect(confirmText(decision)).toBe(confirm);
});

test('a decision whose amounts are not known says so', () => {
  expect(consequenceText({ resolution: 'completed', isUnpriced: true })).toContain('The amount is not known here.');
});
