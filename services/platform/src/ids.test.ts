import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fakeClock } from '../testing/fake-clock.ts';
import { deriveId, hasOwnForm, newIds, newKey, systemRandom, readIdTime } from './ids.ts';
import type { Random } from './ids.ts';

const SHAPE = /^thing_[0-9a-v]{26}$/;
const NOON = Date.UTC(2026, 5, 1, 12);
const allOf =
  (value: number): Random =>
  (bytes) =>
    bytes.fill(value);

/** The sixteen bytes of an id. */
function bytesOf(id: string): Uint8Array {
  const bits = [...id.slice(id.indexOf('_') + 1)]
    .map((letter) => '0123456789abcdefghijklmnopqrstuv'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Uint8Array.from({ length: 16 }, (_, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8), 2));
}

describe('an id', () => {
  test('is a prefix and 26 characters', () => {
    expect(newIds(fakeClock())('thing')).toMatch(SHAPE);
  });

  test.each([0, 255])(
    'is a UUID of version 7 that starts with the time, even when every random byte is %i',
    (value) => {
      const bytes = bytesOf(newIds(fakeClock(NOON), allOf(value))('thing'));
      const hex = Buffer.from(bytes).toString('hex');

      expect(Number.parseInt(hex.slice(0, 12), 16)).toBe(NOON);
      expect(hex[12]).toBe('7');
      expect(hex[16]).toMatch(/[89ab]/);
    },
  );

  test('tells when it was made, and another text tells nothing', () => {
    expect([readIdTime(newIds(fakeClock(NOON))('thing')), readIdTime('thing_1'), readIdTime('')]).toEqual([
      NOON,
      undefined,
      undefined,
    ]);
  });

  test('sorts by time, and within a millisecond by order of creation', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ steps: fc.integer({ min: 0, max: 50_000_000 }), ids: fc.integer({ min: 0, max: 20 }) }), {
          maxLength: 20,
        }),
        (moments) => {
          let now = NOON;
          const newId = newIds({ now: () => now, sleep: async () => undefined });
          const ids = moments.flatMap(({ steps, ids: count }) => {
            now += steps;
            return Array.from({ length: count }, () => newId('thing'));
          });

          expect(ids).toEqual(ids.toSorted());
          expect(new Set(ids).size).toBe(ids.length);
          for (const id of ids) expect(id).toMatch(SHAPE);
        },
      ),
    );
  });

  test('sorts by order of creation even when the counter of a millisecond overflows', () => {
    const newId = newIds(fakeClock(NOON), allOf(7));

    const ids = Array.from({ length: 10_000 }, () => newId('thing'));

    expect(ids).toEqual(ids.toSorted());
    expect(new Set(ids).size).toBe(10_000);
  });

  test('sorts by order of creation even when the clock goes back', () => {
    let now = NOON;
    const newId = newIds({ now: () => now, sleep: async () => undefined });
    const ids = [NOON, NOON - 60_000, NOON - 1, NOON, NOON + 1].map((time) => {
      now = time;
      return newId('thing');
    });

    expect(ids).toEqual(ids.toSorted());
  });

  test('differs between two processes in the same millisecond', () => {
    const [one, other] = [newIds(fakeClock(NOON)), newIds(fakeClock(NOON))];

    const ids = Array.from({ length: 1000 }, () => [one('thing'), other('thing')]).flat();

    expect(new Set(ids).size).toBe(2000);
  });
});

test('an id of a name is the same each time, and another for another name', () => {
  expect(deriveId('evt', 'acme credit_1')).toMatch(/^evt_[0-9a-v]{26}$/);
  expect(deriveId('evt', 'acme credit_1')).toBe(deriveId('evt', 'acme credit_1'));
  expect(deriveId('evt', 'acme credit_2')).not.toBe(deriveId('evt', 'acme credit_1'));
});

describe('a key', () => {
  test.each([
    [16, 26],
    [20, 32],
    [32, 52],
  ])('of %i bytes has %i characters', (bytes, characters) => {
    expect(newKey('rg', bytes)).toMatch(new RegExp(`^rg_[0-9a-v]{${characters}}$`));
  });

  test('encodes all of its bytes, which are all random', () => {
    expect(newKey('rg', 20, allOf(0))).toBe(`rg_${'0'.repeat(32)}`);
    expect(newKey('rg', 20, allOf(255))).toBe(`rg_${'v'.repeat(32)}`);
    expect(new Set(Array.from({ length: 1000 }, () => newKey('rg', 16, systemRandom))).size).toBe(1000);
  });
});

test.each([
  [newIds(fakeClock(NOON))('task'), true],
  [newIds(fakeClock(NOON))('job'), true],
  ['task_1', false],
  ['sk-live-0123456789012345678901', false],
  ['task_0123456789012345678901234w', false],
  ['task_01234567890123456789012345 ', false],
  ['TASK_01234567890123456789012345', false],
  ['', false],
])('%s has the form of our ids: %s', (text, expected) => {
  expect(hasOwnForm(text)).toBe(expected);
});
