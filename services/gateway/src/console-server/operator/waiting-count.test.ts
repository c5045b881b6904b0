import { afterEach, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const counting = (waiting: bigint): OperatorMethods => ({ tasks: { countAttention: async () => ({ waiting }) } });

test.each([
  [0n, { count: 0, hasMore: false }],
  [3n, { count: 3, hasMore: false }],
  [200n, { count: 200, hasMore: false }],
  [201n, { count: 200, hasMore: true }],
])('an operator is told with the session that %d wait, as the queue lists them', async (waiting, told) => {
  console = await startOperatorUnderTest({ operator: counting(waiting) });

  expect((await console.as('viewer', 'GET', '/me')).json).toMatchObject({ name: 'viewer', waiting: told });
});

test('while the tasks service is away the number is left out, and the session stays', async () => {
  const countAttention = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({ operator: { tasks: { countAttention } } });
  const { status, json } = await console.as('viewer', 'GET', '/me');

  expect([status, json.name]).toEqual([200, 'viewer']);
  expect(json).not.toHaveProperty('waiting');
});
