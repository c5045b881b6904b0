import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { permitsByToken } from './stream-permits.ts';

test('a token takes a permit of itself and of each of its makers, or none', () => {
  const permits = permitsByToken({ total: 10, perToken: 2 });
  const first = permits.tryAcquire('child', 'maker');
  permits.tryAcquire('sibling', 'maker');

  expect(permits.tryAcquire('child', 'maker')).toBe('maker_full');
  expect(permits.tryAcquire('maker')).toBe('token_full');
  if (typeof first === 'object') first.release();
  expect(permits.tryAcquire('maker')).toEqual({ release: expect.any(Function) });
  expect(permits.inUse()).toBe(2);
});

test('the bound of the process leaves the permits of the tokens free', () => {
  const permits = permitsByToken({ total: 1, perToken: 1 });
  const first = permits.tryAcquire('other');

  expect(permits.tryAcquire('child', 'maker')).toBe('all_full');
  if (typeof first === 'object') first.release();
  expect(permits.tryAcquire('child', 'maker')).toEqual({ release: expect.any(Function) });
});

test('no tree of tokens holds more than its maker may, however permits are taken and released', () => {
  const step = fc.record({ token: fc.nat({ max: 7 }), isRelease: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
      fc.array(step, { maxLength: 80 }),
      (makers, steps) => {
        const lineOf = (at: number): string[] => (at === 0 ? ['0'] : [String(at), ...lineOf((makers[at] ?? 0) % at)]);
        const permits = permitsByToken({ total: 100, perToken: 3 });
        const held: { readonly line: readonly string[]; readonly release: () => void }[] = [];
        const heldBy = (id: string): number => held.filter(({ line }) => line.includes(id)).length;
        for (const { token, isRelease } of steps) {
          if (isRelease) {
            held.shift()?.release();
            continue;
          }
          const line = lineOf(token);
          const [own = '', ...others] = line;
          const isFull = line.some((id) => heldBy(id) === 3);
          const permit = permits.tryAcquire(own, ...others);
          expect(typeof permit === 'object').toBe(!isFull);
          if (typeof permit === 'object') held.push({ line, release: permit.release });
          expect(permits.inUse()).toBe(held.length);
        }
      },
    ),
  );
});
