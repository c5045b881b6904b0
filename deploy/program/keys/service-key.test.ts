import { describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import { IDENTITIES, callKey, callPurpose, listIdentities, SERVICE_NAMES } from './identities.ts';
import type { ServiceName } from './identities.ts';
import { deriveServiceKey, readServiceKey } from './service-key.ts';
import { toAcceptedKeys } from './signing-key.ts';

const [NOW, BEFORE, LEAKED] = ['the-signing-key-of-now', 'the-signing-key-before', 'a-signing-key-that-leaked'].map(
  (key) => new Secret(key),
) as [Secret, Secret, Secret];
const KEYS = toAcceptedKeys(NOW, [
  { key: BEFORE, accept: 'all' },
  { key: LEAKED, accept: 'tokens' },
]);
const held = (service: ServiceName, keys = KEYS): AcceptedKeys => {
  const read = readServiceKey(deriveServiceKey(service, keys));
  if (read === undefined) throw new Error(`the key of ${service} cannot be read`);
  return read.acceptedKeys;
};
const bytesOf = (service: ServiceName): string =>
  Buffer.from(deriveServiceKey(service, KEYS).reveal().split('.')[1] ?? '', 'base64url').toString();

test.each(SERVICE_NAMES)('the key of %s holds no signing key', (service) => {
  for (const key of [NOW, BEFORE, LEAKED]) expect(bytesOf(service)).not.toContain(key.reveal());
});

describe('media, which runs parsers', () => {
  const [mine] = held('media').signatures;

  test.each(
    IDENTITIES.flatMap((caller) =>
      SERVICE_NAMES.filter((callee) => callee !== 'media').map((callee) => [caller, callee] as const),
    ),
  )('cannot call as %s at %s', (caller, callee) => {
    expect(() => mine.derive(callPurpose(caller, callee))).toThrow(/has no key for/);
    expect(bytesOf('media')).not.toContain(callKey(caller, callee, NOW).reveal());
  });

  test.each(['webhook-secrets', 'token-hash', 'upstream-callbacks', 'console-session', 'operator-session', 'backup'])(
    'has no key for %s',
    (purpose) => {
      expect(() => mine.derive(purpose)).toThrow(`the service_key of media has no key for ${purpose}`);
      expect(bytesOf('media')).not.toContain(NOW.derive(purpose).reveal());
    },
  );

  test('has no key that another service accepts in a call', () => {
    const elsewhere = SERVICE_NAMES.filter((one) => one !== 'media').flatMap((callee) =>
      listIdentities(callee, KEYS.signatures).map(({ key }) => key?.reveal() ?? ''),
    );

    expect(elsewhere.filter((key) => bytesOf('media').includes(key))).toEqual([]);
  });
});

test.each([
  ['gateway', 'tasks'],
  ['gateway', 'billing'],
  ['gateway', 'media'],
  ['tasks', 'billing'],
  ['tasks', 'media'],
] as const)('%s and %s agree on the key of their calls, under the key of now and the one before', (caller, callee) => {
  for (const at of [0, 1]) {
    const sent = held(caller).signatures[at]?.derive(callPurpose(caller, callee)).reveal();
    const known = listIdentities(callee, held(callee).signatures).filter(({ name }) => name === caller);
    expect(known.map(({ key }) => key?.reveal())).toContain(sent);
  }
});

test('tokens are found under a key that opens nothing else, and by billing alone', () => {
  const { signatures, tokens } = held('billing');

  expect(signatures).toHaveLength(2);
  expect(tokens.map((key) => key.derive('token-hash').reveal())).toEqual(
    [NOW, BEFORE, LEAKED].map((key) => key.derive('token-hash').reveal()),
  );
  expect(() => tokens[2]?.derive(callPurpose('gateway', 'billing'))).toThrow(/has no key/);
  for (const service of ['gateway', 'tasks', 'media'] as const)
    expect(() => held(service).tokens[0].derive('token-hash')).toThrow(/has no key/);
});

test.each([
  ['', 'empty'],
  ['a-signing-key-of-another-kind', 'a signing key'],
  ['reelgate-media-key-v1.bm8', 'no keys'],
  ['reelgate-media-key-v1.W10', 'an empty list'],
  ['reelgate-nobody-key-v1.W10', 'an unknown service'],
])('%p is no key of a service: %s', (written) => {
  expect(readServiceKey(new Secret(written))).toBeUndefined();
});
