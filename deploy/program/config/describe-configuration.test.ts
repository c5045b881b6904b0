import { expect, test } from '@jest/globals';
import type { ProgramConfig } from './program-config.ts';
import { describeConfiguration } from './describe-configuration.ts';

const STARTED = {
  value: { billing: { database: 'postgres://a:b@db/x' }, channels: [{ id: 'one', api_key: 'k1' }] },
  file: { files: ['/etc/reelgate.yaml'] } as unknown as ProgramConfig['file'],
  warnings: ['a warning'],
};

test('what a reload applies is shown as it is now, and what waits for a start with both values, without secrets', () => {
  const value = { billing: { database: 'postgres://a:c@other/x' }, channels: [{ id: 'two', api_key: 'k2' }] };
  const state = { refused: undefined, pending: ['billing.database'], value, appliedAt: 7 };
  expect(describeConfiguration(STARTED, state, 1)).toMatchObject({
    effective: { billing: { database: 'postgres://***@db/x' }, channels: [{ id: 'two', api_key: '***' }] },
    differences: [
      { key: 'billing.database', running: 'postgres://***@db/x', file: 'postgres://***@other/x', needsStart: true },
    ],
    appliedAt: 7,
    files: ['/etc/reelgate.yaml'],
    warnings: ['a warning'],
  });
});

test('a refusal of the newest files is shown beside what is in use', () => {
  const state = { refused: 'line 3: expected a number', pending: [], value: STARTED.value, appliedAt: 1 };
  const shown = describeConfiguration(STARTED, state, 1);
  expect([shown.refused, shown.differences]).toEqual(['line 3: expected a number', []]);
});
