import type { Answer } from '../../../services/media/testing/fake-dns.ts';
import { redirects } from '../../../services/media/testing/origin.ts';
import { BLOCKS, CARRIERS, fromDotted, toDotted, toGroups } from '../../../services/media/testing/special-blocks.ts';
import { attacks } from '../attack.ts';
import type { Attack } from '../attack.ts';
import type { AttackWorld } from '../attack-world.ts';

/** A permitted address, on the ports of the origins only. */
const LOOPBACK = '127.0.0.1';
/** A forbidden address on every port. */
const BAD = '127.0.0.2';
const BAD_SIX = '0:0:0:0:0:0:0:1';
/** The most addresses that one DNS answer over TCP holds. */
const MANY = 3900;
const HOPS = [1, 2, 3];

/** Names that resolve to forbidden addresses or do not resolve. */
export function nameAttacks(world: AttackWorld): readonly Attack[] {
  const { dns, raw, canary } = world;
  let names = 0;
  /** The URL of a new name with these DNS answers. The last answer repeats. */
  const at = (answers: readonly Answer[], port: number, scheme = 'http'): string => {
    names += 1;
    const name = `n${names}.attack.example`;
    dns.answer(name, ...answers);
    return `${scheme}://${name}:${port}/`;
  };
  const twice = (answers: readonly Answer[]): readonly string[] =>
    answers.flatMap((answer) => [at([answer], canary), at([answer], canary, 'https')]);
  dns.answer('loopback.attack.example', [LOOPBACK]);
  return [
    ...attacks('names with an address of each forbidden block', ['unreached'], twice(IN_BLOCKS)),
    ...attacks('names with an IPv4 address within an IPv6 one', ['unreached'], twice(CARRIED)),
    ...attacks(
      'names with a permitted and a forbidden address',
      ['unreached'],
      MIXED.map((answer) => at([answer], raw.port)),
    ),
    ...attacks(
      'aliases and lifetimes',
      ['unreached', 'slow'],
      ALIASED.map((answer) => at([answer], canary)),
    ),
    ...attacks(
      'odd DNS answers',
      ['unreached', 'slow'],
      ODD.map((answer) => at([answer], raw.port)),
    ),
    ...attacks('names that change between look-ups', ['unreached'], changing(world, at)),
    ...attacks(
      'names that are not valid',
      ['unreached', 'address'],
      NO_NAMES.map((name) => `http://${name}/`),
    ),
  ];
}

/** A name with a permitted address until it has redirected to itself this many times. */
function changing(
  { origin, canary }: AttackWorld,
  at: (answers: readonly Answer[], port: number) => string,
): readonly string[] {
  return HOPS.flatMap((hops) =>
    [BAD, '169.254.169.254', '10.0.0.1'].flatMap((bad) => {
      const good = Array.from({ length: hops }, () => [LOOPBACK]);
      return [origin.port, canary].map((port) => {
        const last = at([...good, [bad]], port);
        const { hostname } = new URL(last);
        return good.reduce((url) => origin.url(redirects(url)).replace(LOOPBACK, hostname), last);
      });
    }),
  );
}

const IN_BLOCKS: readonly Answer[] = BLOCKS.flatMap(({ version, first, last }) =>
  [first, last].map((value) => [version === 4 ? toDotted(value) : toGroups(value)]),
);
const CARRIED: readonly Answer[] = Object.values(CARRIERS).flatMap((carry) =>
  [LOOPBACK, '169.254.169.254', '10.0.0.1'].map((inner) => [toGroups(carry(fromDotted(inner)))]),
);
const MIXED: readonly Answer[] = [
  ...['10.0.0.1', BAD, '169.254.169.254', '192.168.0.1', '0.0.0.0'].flatMap((bad) => [
    [LOOPBACK, bad],
    [bad, LOOPBACK],
    { four: [LOOPBACK, bad], six: { code: 2 } },
    { aliases: ['a.attack.example'], addresses: [LOOPBACK, bad] },
    { addresses: [...Array<string>(40).fill(LOOPBACK), bad] },
  ]),
  ...[BAD_SIX, 'fd00:0:0:0:0:0:0:1', 'fe80:0:0:0:0:0:0:1', '0:0:0:0:0:ffff:a9fe:a9fe'].flatMap((six) => [
    { four: [LOOPBACK], six: [six] },
    [LOOPBACK, six],
  ]),
];
const ALIASED: readonly Answer[] = [
  { aliases: ['a.attack.example'], addresses: [LOOPBACK] },
  { aliases: ['a.attack.example', 'b.attack.example', 'c.attack.example'], addresses: [LOOPBACK] },
  { aliases: Array.from({ length: 20 }, (_, step) => `c${step}.attack.example`), addresses: [LOOPBACK] },
  { aliases: ['localhost'], addresses: [LOOPBACK] },
  { aliases: ['metadata.google.internal'], addresses: ['169.254.169.254'] },
  { aliases: ['a.attack.example', 'b.attack.example', 'a.attack.example'] },
  { aliases: ['nothing.attack.example'] },
  { addresses: [LOOPBACK], ttl: 0 },
  { addresses: [LOOPBACK], ttl: 0x7fff_ffff },
  { four: [LOOPBACK], six: { code: 2 } },
  { four: { code: 2 }, six: [BAD_SIX] },
  { four: [LOOPBACK], six: 'silence' },
];
const ODD: readonly Answer[] = [
  [],
  { code: 1 },
  { code: 2 },
  { code: 3 },
  { code: 4 },
  { code: 5 },
  'silence',
  { addresses: [LOOPBACK], fault: 'wrong id' },
  { addresses: [LOOPBACK], fault: 'wrong question' },
  { addresses: [LOOPBACK], fault: 'cut off' },
  { addresses: [LOOPBACK], fault: 'miscounted' },
  { addresses: [LOOPBACK], fault: 'too short addresses' },
  { fault: 'truncated' },
  { addresses: [BAD], forged: [LOOPBACK] },
  Array<string>(300).fill(BAD),
  Array<string>(MANY).fill(BAD),
  [...Array<string>(MANY).fill(LOOPBACK), BAD],
];
const NO_NAMES = [
  `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(127)}example`,
  `${'long-label.'.repeat(30)}example`,
  'xn--.example',
  '-.example',
  '*.example',
  'unknown.attack.example',
];
