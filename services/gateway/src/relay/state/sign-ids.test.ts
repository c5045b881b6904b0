import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { acceptOnly, Secret } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import { newIdSigners } from './sign-ids.ts';

const [OLD, NEW] = [new Secret('the old key'), new Secret('the new key')];
const keys = (...all: readonly [Secret, ...Secret[]]): AcceptedKeys => ({ signatures: all, tokens: all });
const demo = newIdSigners(acceptOnly(OLD))('demo');
const signed = demo.signFor('account one')('response', 'resp_1');

describe('a signed id', () => {
  test('is read as it was, whatever it is, and belongs to one account of an upstream', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
        const read = demo.read('item', demo.signFor('account one')('item', id));
        expect(read?.id).toBe(id);
        expect([read?.isOf('account one'), read?.isOf('account two'), read?.isOf('channel one')]).toEqual([
          true,
          false,
          false,
        ]);
      }),
    );
  });
  test('has the same form each time, so that clients can compare it', () => {
    expect(newIdSigners(acceptOnly(OLD))('demo').signFor('account one')('response', 'resp_1')).toBe(signed);
    expect(signed).toMatch(/^resp_1_st_[\w-]{24}$/);
  });
  test('that is signed twice is read twice', () => {
    const twice = demo.signFor('account two')('response', signed);
    expect(demo.read('response', twice)?.id).toBe(signed);
  });
});

describe('is not read', () => {
  test.each([
    ['without a signature', 'resp_1'],
    ['with another id', signed.replace('resp_1', 'resp_2')],
    ['with another route', signed.replace(/_st_(.)/, (_, first: string) => `_st_${first === 'A' ? 'B' : 'A'}`)],
    ['without its last character', signed.slice(0, -1)],
    ['with one more', `${signed}A`],
    ['with another last character', `${signed.slice(0, -1)}${signed.endsWith('A') ? 'B' : 'A'}`],
    ['as nothing but a signature', signed.slice('resp_1'.length)],
    ['empty', ''],
  ])('%s', (_name, text) => {
    expect(demo.read('response', text)).toBeUndefined();
  });
  test('for another account, as another kind, or under another key', () => {
    expect(newIdSigners(acceptOnly(OLD))('other').read('response', signed)).toBeUndefined();
    expect(demo.read('item', signed)).toBeUndefined();
    expect(newIdSigners(acceptOnly(NEW))('demo').read('response', signed)).toBeUndefined();
  });
});

test('while the signing key is replaced, the ids of both keys are read and lead to their upstream', () => {
  const [before, during, after] = [keys(OLD, NEW), keys(NEW, OLD), keys(NEW)].map((all) => newIdSigners(all)('demo'));
  const [old, fresh] = [before!, during!].map((ids) => ids.signFor('account one')('response', 'resp_1'));

  expect([before, during].map((ids) => ids!.read('response', old!)?.isOf('account one'))).toEqual([true, true]);
  expect([before, during, after].map((ids) => ids!.read('response', fresh!)?.isOf('account one'))).toEqual([
    true,
    true,
    true,
  ]);
  expect(after!.read('response', old!)).toBeUndefined();
});
