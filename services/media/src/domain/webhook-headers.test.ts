import { expect, test } from '@jest/globals';
import { findHeadersFault } from './webhook-headers.ts';
import type { WebhookHeader } from './webhook-headers.ts';

const one = (name: string, value = 'x'): WebhookHeader[] => [{ name, value }];

test('the headers of a delivery are sent', () => {
  expect(
    findHeadersFault([
      { name: 'content-type', value: 'application/json' },
      { name: 'webhook-id', value: 'evt_1' },
      { name: 'webhook-timestamp', value: '1767225600' },
      { name: 'webhook-signature', value: 'v1,abc= v1,def=' },
    ]),
  ).toBeUndefined();
});

test.each<[string, WebhookHeader[]]>([
  ...[
    'host',
    'content-length',
    'user-agent',
    'connection',
    'transfer-encoding',
    'te',
    'upgrade',
    'expect',
    'cookie',
  ].map((name): [string, WebhookHeader[]] => [`the header ${name}`, one(name)]),
  ['a name in upper case', one('Webhook-Id')],
  ['an empty name', one('')],
  ['a name with a space', one('a b')],
  ['a line break in a name', one('a\r\nhost')],
  ['a line break in a value', one('a', 'b\r\nhost: c')],
  ['a null in a value', one('a', '\0')],
  ['a letter outside ASCII', one('a', 'ä')],
  ['a name twice', [...one('a'), ...one('a', 'y')]],
  ['too many characters', one('a', 'x'.repeat(16 * 1024))],
])('%s is refused', (_what, headers) => {
  expect(findHeadersFault(headers)).toMatch(/^must have /);
});
