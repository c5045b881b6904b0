import { format, inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pino } from 'pino';
import { Secret, deriveSecret, isSameSecret } from './secret.ts';

const secret = new Secret('hunter2');
/** A secret where the type expects a text, as after a mistake. */
const asText = secret as unknown as string;

function logged(fields: object): string {
  let line = '';
  pino({}, { write: (text: string) => void (line += text) }).info(fields, 'a line');
  return line;
}

describe('a secret', () => {
  test('is returned by reveal() alone', () => {
    expect(secret.reveal()).toBe('hunter2');
    expect(Object.keys(secret)).toEqual([]);
    expect(Reflect.ownKeys(secret)).toEqual([]);
    expect(Object.assign({}, secret)).toEqual({});
  });

  test.each<[string, string]>([
    ['String()', String(secret)],
    ['toString()', secret.toString()],
    ['a template', `a ${asText}`.slice(2)],
    ['an addition', ('a' + asText).slice(1)],
    ['JSON', JSON.parse(JSON.stringify(secret)) as string],
    ['util.inspect', inspect(secret)],
    ['util.format %s', format('%s', secret)],
    ['util.format %j', JSON.parse(format('%j', secret)) as string],
    ['util.format %o', format('%o', secret)],
    ['join', [secret].join()],
  ])('prints as *** through %s', (_how, printed) => {
    expect(printed).toBe('***');
  });

  test.each<[string, () => string]>([
    ['JSON within an object', () => JSON.stringify({ upstream: { key: secret } })],
    ['util.inspect within an object', () => inspect({ upstream: { key: secret, list: [secret] } }, { depth: 9 })],
    [
      'util.inspect that shows what is hidden',
      () => inspect(secret, { showHidden: true, customInspect: false, getters: true }),
    ],
    ['an error', () => inspect(new Error('failed', { cause: secret }))],
    [
      'a log line',
      () =>
        logged({ key: secret, deep: { secret }, list: [secret], err: Object.assign(new Error('failed'), { secret }) }),
    ],
    ['a log line of itself', () => logged(secret)],
  ])('is not shown by %s', (_how, print) => {
    expect(print()).not.toContain('hunter2');
  });
});

describe('a derived secret', () => {
  test('is the same each time, and differs by purpose and by secret', () => {
    const derived = deriveSecret(secret, 'links').reveal();

    expect(deriveSecret(new Secret('hunter2'), 'links').reveal()).toBe(derived);
    expect(deriveSecret(secret, 'services').reveal()).not.toBe(derived);
    expect(deriveSecret(new Secret('hunter3'), 'links').reveal()).not.toBe(derived);
    expect(derived).not.toContain('hunter2');
    expect(derived).toHaveLength(43);
  });
});

describe('comparing secrets', () => {
  test('tells whether two texts of any length are equal', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        expect(isSameSecret(left, right)).toBe(left === right);
        expect(isSameSecret(left, left)).toBe(true);
        expect(isSameSecret(left, `${left}${right}`)).toBe(right === '');
      }),
    );
  });
});
