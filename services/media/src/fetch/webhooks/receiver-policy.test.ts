import { describe, expect, test } from '@jest/globals';
import { FetchFault } from '../../domain/fetch-fault.ts';
import { receiverPolicy } from './receiver-policy.ts';

const judge = receiverPolicy({
  allow: [
    { host: '127.0.0.1', port: 9000 },
    { host: '::1', port: 9001 },
    { host: 'Hooks.internal', port: 8443 },
    { host: 'receiver', port: 80 },
    { host: 'gate.example', port: 444 },
  ],
  isOwn: ({ hostname }) => hostname === 'gate.example',
});

describe('a receiver is called', () => {
  test.each([
    'https://hooks.example/a?b=c',
    'https://hooks.example:443/',
    'https://8.8.8.8/',
    'https://[2600::1]/',
    'http://127.0.0.1:9000/',
    'https://127.0.0.1:9000/',
    'http://2130706433:9000/',
    'http://[::1]:9001/',
    'http://hooks.internal:8443/',
    'https://HOOKS.internal.:8443/',
    'http://receiver/',
    'https://gate.example:444/',
    // its address decides
    'https://hooks.example:9000/',
  ])('at %s', (url) => {
    expect(judge(url).url.href).toBe(new URL(url).href);
  });
});

describe('a receiver is refused by its URL', () => {
  test.each([
    'http://hooks.example/',
    'http://hooks.example:443/',
    'http://hooks.example:9000/',
    'https://hooks.example:8443/',
    'https://hooks.example:80/',
    'https://hooks.example:22/',
    'https://127.0.0.1/',
    'https://127.0.0.1:9001/',
    'https://127.0.0.2:9000/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]:9000/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://localhost/',
    'https://db.internal/',
    'https://hooks.internal/',
    'https://other.internal:8443/',
    'https://x.hooks.internal:8443/',
    'https://receiver/',
    'http://receiver:81/',
    'https://gate.example/',
    'http://gate.example:80/',
    'https://user:password@hooks.example/',
    'https://hooks.example\\@10.0.0.1/',
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'hooks.example',
    '',
    `https://hooks.example/${'x'.repeat(2048)}`,
  ])('at %s', (url) => {
    expect(() => judge(url)).toThrow(FetchFault);
  });
});

test('an exception that is a name allows each of its addresses, on its port alone and for no other name', () => {
  const { policy, isException } = judge('https://hooks.internal:8443/');

  expect(isException).toBe(true);
  expect(['10.0.0.1', '8.8.8.8', 'fd00::1'].map((address) => policy.permits(address, 8443))).toEqual([
    true,
    true,
    true,
  ]);
  expect([policy.permits('10.0.0.1', 443), policy.permits('hooks.internal', 8443)]).toEqual([false, false]);
  expect(judge('https://hooks.example/').policy.permits('10.0.0.1', 8443)).toBe(false);
});

test('an exception that is an address allows no other address on its port', () => {
  const { policy, isException } = judge('https://hooks.example:9000/');

  expect(isException).toBe(false);
  expect(['127.0.0.1', '127.0.0.2', '10.0.0.1', '8.8.8.8'].map((address) => policy.permits(address, 9000))).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
