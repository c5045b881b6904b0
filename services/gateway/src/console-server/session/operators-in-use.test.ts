import { expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { listOperators } from './operators-in-use.ts';

const KEY = new Secret('a signing key');
const ADA = { name: 'ada', role: 'viewer', key: new Secret('key-of-ada-0123456789-abcdefghijkl') } as const;

test.each([
  ['the operators of the configuration alone, if it has any', '127.0.0.1', [ADA], ['ada']],
  ['an operator for this machine on a loopback address', '127.0.0.1', [], ['local']],
  ['an operator for this machine on the IPv6 loopback address', '::1', [], ['local']],
  ['no operator on an address that others reach', '0.0.0.0', [], []],
  ['no operator on a host that only begins like a loopback address', '127.example.com', [], []],
  ['no operator without an admin port', undefined, [], []],
])('the console has %s', (_what, host, operators, names) => {
  const admin = host === undefined ? undefined : { host, port: 9110 };
  expect(listOperators({ admin, console: { operators } }, KEY).map(({ name }) => name)).toEqual(names);
});

test('the key of the local operator is the same at every start, and another one under another signing key', () => {
  const keyUnder = (signingKey: Secret): string | undefined =>
    listOperators({ admin: { host: 'localhost', port: 1 }, console: { operators: [] } }, signingKey)[0]?.key.reveal();
  expect(keyUnder(KEY)).toBe(keyUnder(new Secret('a signing key')));
  expect(keyUnder(KEY)).not.toBe(keyUnder(new Secret('another signing key')));
  expect(keyUnder(KEY)).not.toBe(KEY.reveal());
});
