import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  BLOCKS,
  CARRIERS,
  SPECIAL_BLOCKS,
  fromDotted,
  isPublic,
  parseBlock,
  spellings4,
  spellings6,
  toDotted,
  toGroups,
} from '../../../testing/special-blocks.ts';
import type { Block } from '../../../testing/special-blocks.ts';
import { BLOCKED, addressPolicy, isPublicAddress } from './address-policy.ts';
import { checkTarget } from './fetch-target.ts';

const LAST = { 4: (1n << 32n) - 1n, 6: (1n << 128n) - 1n } as const;
const POLICY = addressPolicy({ allow: [], ports: [80, 443] });
const textOf = (version: 4 | 6, value: bigint): string => (version === 4 ? toDotted(value) : toGroups(value));
const verdictOf = (version: 4 | 6, value: bigint): string => (isPublic(version, value) ? 'public' : 'refused');
/** Whether an address in a URL passes every check before the dial. */
const dialled = (host: string): boolean => {
  const url = URL.parse(`http://${host}/`);
  if (url === null) return false;
  try {
    checkTarget(url, POLICY);
    return true;
  } catch {
    return false;
  }
};

/** The first, middle and last address of a block, and the neighbours on both sides. */
const edgesOf = ({ version, first, last }: Block): readonly (readonly [4 | 6, bigint])[] =>
  [first, last, (first + last) / 2n, first + 1n, last - 1n, first - 1n, last + 1n]
    .filter((value) => value >= 0n && value <= LAST[version])
    .map((value) => [version, value]);
const EDGES = [
  ...new Map(
    BLOCKS.flatMap(edgesOf).map(([version, value]) => [
      textOf(version, value),
      [textOf(version, value), verdictOf(version, value), version, value] as const,
    ]),
  ).values(),
];

/** The texts whose verdict differs from the expected one. */
const misjudged = (texts: readonly string[], judge: (text: string) => boolean, expected: boolean): readonly string[] =>
  texts.filter((text) => judge(text) !== expected);
const bracketed = (texts: readonly string[]): readonly string[] => texts.map((text) => `[${text}]`);

describe('the registries', () => {
  test.each(EDGES)('%s is %s in every spelling', (text, verdict, version, value) => {
    const expected = verdict === 'public';

    expect(isPublicAddress(text)).toBe(expected);
    expect(misjudged(version === 6 ? spellings6(value) : [], isPublicAddress, expected)).toEqual([]);
    expect(misjudged(version === 6 ? bracketed(spellings6(value)) : spellings4(value), dialled, expected)).toEqual([]);
  });

  // a rule that holds the mapped addresses would block all of IPv4
  test.each(SPECIAL_BLOCKS.filter(([block]) => block !== '::/3'))(
    '%s (%s) is also in the list of the sockets',
    (block) => {
      const { version, first, last } = parseBlock(block);

      expect(
        [first, (first + last) / 2n, last].map((value) => BLOCKED.check(textOf(version, value), `ipv${version}`)),
      ).toEqual([true, true, true]);
    },
  );

  test('neighbours of every kind are public, so the table can fail', () => {
    const open = EDGES.filter(([, verdict]) => verdict === 'public').map(([text]) => text);

    expect(open).toEqual(
      expect.arrayContaining([
        '9.255.255.255',
        '11.0.0.0',
        '100.63.255.255',
        '100.128.0.0',
        '126.255.255.255',
        '168.63.129.15',
        '168.63.129.17',
        '172.32.0.0',
        '192.0.1.0',
        '223.255.255.255',
        '2620:004f:8001:0000:0000:0000:0000:0000',
      ]),
    );
  });
});

const inBlock = ({ first, last }: Block) => fc.bigInt({ min: first, max: last });
const anyBlocked4 = fc.constantFrom(...BLOCKS.filter(({ version }) => version === 4)).chain(inBlock);
const anyBlocked6 = fc
  .constantFrom(...BLOCKS.filter(({ version }) => version === 6))
  .chain(inBlock)
  .filter((value) => !isPublic(6, value));
const any4 = fc.bigInt({ min: 0n, max: LAST[4] });

describe('an address of a blocked block', () => {
  test.each(Object.keys(CARRIERS))('is refused when an IPv6 address carries it: %s', (carrier) => {
    fc.assert(
      fc.property(anyBlocked4, (inner) => {
        const texts = spellings6(CARRIERS[carrier]!(inner));

        return (
          misjudged(texts, isPublicAddress, false).length === 0 &&
          misjudged(bracketed(texts), dialled, false).length === 0
        );
      }),
    );
  });

  test('of IPv4 is refused in every spelling that a URL can have', () => {
    fc.assert(fc.property(anyBlocked4, (value) => misjudged(spellings4(value), dialled, false).length === 0));
  });

  test('of IPv6 is refused with a zone, like every other address with one', () => {
    const open = inBlock(parseBlock('2600::/16'));
    fc.assert(
      fc.property(fc.oneof(anyBlocked6, open), fc.stringMatching(/^[a-z0-9]{1,8}$/), (value, zone) => {
        const text = `${toGroups(value)}%${zone}`;

        return (
          !isPublicAddress(text) &&
          !POLICY.permits(text, 80) &&
          misjudged([`[${text}]`, `[${text.replace('%', '%25')}]`], dialled, false).length === 0
        );
      }),
    );
  });

  test('of IPv6 is refused in every spelling', () => {
    fc.assert(fc.property(anyBlocked6, (value) => misjudged(spellings6(value), isPublicAddress, false).length === 0));
  });
});

describe('any address', () => {
  test('of IPv4 gets the verdict of the arithmetic, alone and mapped', () => {
    fc.assert(
      fc.property(
        any4,
        (value) =>
          misjudged([toDotted(value), `::ffff:${toDotted(value)}`], isPublicAddress, isPublic(4, value)).length === 0,
      ),
      { numRuns: 1000 },
    );
  });

  test('of IPv6 gets the verdict of the arithmetic', () => {
    const nearAnEdge = fc
      .constantFrom(...BLOCKS.filter(({ version }) => version === 6))
      .chain(({ first, last }) =>
        fc.bigInt({ min: -1000n, max: 1000n }).chain((off) => fc.constantFrom(first + off, last + off)),
      );
    const some = fc
      .oneof(fc.bigInt({ min: 0n, max: LAST[6] }), inBlock(parseBlock('2000::/3')), nearAnEdge)
      .filter((value) => value >= 0n && value <= LAST[6]);
    fc.assert(
      fc.property(some, (value) => isPublicAddress(toGroups(value)) === isPublic(6, value)),
      { numRuns: 1000 },
    );
  });

  test.each(Object.keys(CARRIERS).filter((carrier) => carrier !== 'mapped'))(
    'that is public is refused when another address carries it: %s',
    (carrier) => {
      fc.assert(fc.property(any4, (inner) => !isPublicAddress(toGroups(CARRIERS[carrier]!(inner)))));
    },
  );

  test('that is public is permitted when it is mapped', () => {
    expect(isPublicAddress(toGroups(CARRIERS['mapped']!(fromDotted('8.8.8.8'))))).toBe(true);
  });
});
