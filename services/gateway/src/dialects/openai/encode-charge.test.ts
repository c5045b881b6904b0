import { describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { aCompletedTask, aTask } from '../../../testing/a-task.ts';
import { newLinkSigner } from '../../http/signed-links.ts';
import type { Charge } from '../../domain/charge.ts';
import { encodeReadVideo } from './encode.ts';
import { openai } from './index.ts';

const links = newLinkSigner('https://gateway.example', new Secret('a key'));
const aCharge = (state: Charge['state'], amountNanos: bigint): Charge => ({ state, amountNanos, currency: 'USD' });
const show = (charge: Charge | undefined, task = aCompletedTask()) =>
  JSON.parse(JSON.stringify(encodeReadVideo(task, links, charge))) as Record<string, unknown>;

describe('a read shows the charge', () => {
  test.each([
    ['held', 400_000_000n, { state: 'held', amount: '0.4', currency: 'USD' }, undefined],
    ['charged', 400_000_000n, { state: 'charged', amount: '0.4', currency: 'USD' }, 0.4],
    ['charged', 0n, { state: 'charged', amount: '0', currency: 'USD' }, 0],
    ['released', 400_000_000n, { state: 'released', amount: '0.4', currency: 'USD' }, 0],
  ] as const)('%s %d', (state, nanos, charge, cost) => {
    expect(show(aCharge(state, nanos))).toMatchObject({ charge, usage: { total_seconds: 5 } });
    expect((show(aCharge(state, nanos))['usage'] as { cost?: number }).cost).toBe(cost);
  });
  test('with a cost even if the task has no usage', () => {
    expect(show(aCharge('released', 1n), aTask())['usage']).toEqual({ cost: 0 });
  });
  test('with the path of the read, and without money if that is not known', () => {
    expect(show(undefined)).toMatchObject({ polling_url: `/v1/videos/${aTask().id}` });
    expect(show(undefined)).not.toHaveProperty('charge');
    expect(show(undefined)).not.toHaveProperty('usage.cost');
  });
});

test.each([
  [1n, '0.000000001'],
  [123_456_789_012_345_678n, '123456789.012345678'],
  [999_999_999_999_999_999n, '999999999.999999999'],
])('the cost of %d billionths has every digit in the text', (nanos, digits) => {
  expect(JSON.stringify(encodeReadVideo(aCompletedTask(), links, aCharge('charged', nanos)))).toContain(
    `"cost":${digits}`,
  );
});

test('a read names its status once, so that a program that searches the text finds no other one', () => {
  expect(JSON.stringify(show(aCharge('charged', 5n))).match(/"status":/g)).toHaveLength(1);
});

test('a page shows the charge of each task that has one', () => {
  const [list] = openai.lists;
  const tasks = [aCompletedTask({ id: 'task_1' }), aTask({ id: 'task_2' })];
  const charges = new Map([['task_1', aCharge('charged', 5n)]]);

  const { data } = list?.answer.encode({ tasks, hasMore: false, total: 0, charges }, links) as {
    readonly data: object[];
  };

  expect(data[0]).toMatchObject({ charge: { state: 'charged' }, polling_url: '/v1/videos/task_1' });
  expect(data[1]).not.toHaveProperty('charge');
});
