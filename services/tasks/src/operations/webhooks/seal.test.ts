import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '@reelgate/platform/ids';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import { sealer } from './secrets.ts';

const SECRET = new Secret('whsec_c2VjcmV0');
const OLD = new Secret('the old signing key');
const NEW = new Secret('the new signing key');
const rotated: AcceptedKeys = { signatures: [NEW, OLD], tokens: [NEW, OLD] };

const withOld = sealer(acceptOnly(OLD), systemRandom);
const withBoth = sealer(rotated, systemRandom);
const withNew = sealer(acceptOnly(NEW), systemRandom);

describe('a sealed secret', () => {
  const sealed = withOld.seal(SECRET, 'whe_1');

  test('opens with the key that sealed it, and prints as a secret', () => {
    const opened = withOld.open(sealed, 'whe_1');

    expect(opened?.reveal()).toBe(SECRET.reveal());
    expect(inspect(opened)).toBe('***');
  });

  test('holds neither the secret nor the same text twice', () => {
    expect(sealed).not.toContain('c2VjcmV0');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('whsec_');
    expect(withOld.seal(SECRET, 'whe_1')).not.toBe(sealed);
  });

  test('opens while its key is accepted beside a newer one', () => {
    expect(withBoth.open(sealed, 'whe_1')?.reveal()).toBe(SECRET.reveal());
    expect(withBoth.isCurrent(sealed)).toBe(false);
    expect(withBoth.isCurrent(withBoth.seal(SECRET, 'whe_1'))).toBe(true);
    expect(withNew.open(withBoth.seal(SECRET, 'whe_1'), 'whe_1')?.reveal()).toBe(SECRET.reveal());
  });

  test.each([
    ['with another key', withNew.open(sealed, 'whe_1')],
    ['for another owner', withOld.open(sealed, 'whe_2')],
    ['with another name of its key', withOld.open(`x${sealed.slice(1)}`, 'whe_1')],
    ['when it is cut', withOld.open(sealed.slice(0, -8), 'whe_1')],
    ['when it is only a name', withOld.open(sealed.slice(0, 9), 'whe_1')],
    ['when it is almost empty', withOld.open(`${sealed.slice(0, 9)}AAAA`, 'whe_1')],
    ['when it is empty', withOld.open('', 'whe_1')],
  ])('does not open %s', (_when, opened) => {
    expect(opened).toBeUndefined();
  });

  test('does not open when any of its bytes is changed', () => {
    const [name = '', text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');

    const opened = [...bytes.keys()].map((at) => {
      const changed = Buffer.from(bytes);
      changed[at] = changed.readUInt8(at) ^ 1;
      return withOld.open(`${name}.${changed.toString('base64url')}`, 'whe_1');
    });

    expect(opened.length).toBeGreaterThan(28);
    expect(opened.filter((one) => one !== undefined)).toEqual([]);
  });
});
