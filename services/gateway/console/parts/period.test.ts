import { describe, expect, test } from '@jest/globals';
import { toBounds } from './period.ts';

describe('the bounds of a period', () => {
  test('are whole days, and the end is exclusive', () => {
    expect(toBounds({ from: '2026-01-01', to: '2026-01-31' })).toEqual({
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-02-01T00:00:00.000Z',
    });
  });

  test('keep a text that is no date, for the service to refuse', () => {
    expect(toBounds({ from: 'never', to: '2026-01-31' }).from).toBe('never');
  });
});
