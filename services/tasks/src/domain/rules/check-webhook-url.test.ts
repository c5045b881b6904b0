import { describe, expect, test } from '@jest/globals';
import { webhookUrlFault } from '../webhook.ts';

const NONE: ReadonlySet<string> = new Set();
const ALLOWED: ReadonlySet<string> = new Set(['127.0.0.1:9000', 'hooks.internal:8443', '[::1]:80', '10.0.0.1:443']);
const EXPECTED = 'must be an https URL on port 443, such as https://example.com/hooks';
const PUBLIC = 'must have a public host, such as https://example.com/hooks';

describe('the URL of a receiver', () => {
  test.each([
    'https://example.com/hooks',
    'https://example.com',
    'HTTPS://Example.COM:443/hooks?token=a%20b',
    'https://hooks.example.com./x',
    'https://93.184.216.34/hooks',
    'https://[2606:4700:4700::1111]/hooks',
    'https://bücher.example/hooks',
    'https://172.15.0.1/',
    'https://100.128.0.1/',
    'https://localhost.example/hooks',
  ])('%s is accepted', (url) => {
    expect(webhookUrlFault(url, 'url', NONE)).toBeUndefined();
  });

  test.each([
    ['', EXPECTED],
    ['example.com/hooks', EXPECTED],
    ['ftp://example.com/hooks', EXPECTED],
    ['http://example.com/hooks', EXPECTED],
    ['https://example.com:8443/hooks', EXPECTED],
    ['http://example.com:443/hooks', EXPECTED],
    ['https:/example.com/hooks', EXPECTED],
    ['https:\\\\example.com/hooks', EXPECTED],
    ['https://example.com/a b', EXPECTED],
    ['https://exa\tmple.com/hooks', EXPECTED],
    [' https://example.com/hooks', EXPECTED],
    ['https://example.com:99999/hooks', EXPECTED],
    [`https://example.com/${'ä'.repeat(1000)}`, EXPECTED],
    [`https://example.com/${'a'.repeat(2048)}`, 'must have at most 2048 characters'],
    ['https://user@example.com/hooks', 'must have no user name and no password'],
    ['https://user:pass@example.com/hooks', 'must have no user name and no password'],
    ['https://@example.com/hooks', 'must have no user name and no password'],
    ['https://example.com/hooks#part', 'must have no fragment'],
    ['https://example.com/hooks#', 'must have no fragment'],
  ])('%s is refused: %s', (url, message) => {
    expect(webhookUrlFault(url, 'webhook_url', NONE)).toEqual({
      reason: 'invalid_webhook_url',
      field: 'webhook_url',
      message,
    });
  });

  test.each([
    'localhost',
    'LOCALHOST.',
    'hooks',
    'printer.local',
    'hooks.internal',
    'router.lan',
    'tasks.reelgate.svc.cluster.local',
    'router.home.arpa',
    'a..example.com',
    '.example.com',
    '127.0.0.1',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[fe80::1]',
    '[fd00::1]',
    '[2001::1]',
    '[2001:db8::1]',
    '[2001:1f::1]',
    '[2002:7f00:1::]',
    '[3fff::1]',
    '[ff02::1]',
  ])('the host %s is not public', (host) => {
    expect(webhookUrlFault(`https://${host}/hooks`, 'url', NONE)?.message).toBe(PUBLIC);
  });
});

describe('a receiver that the configuration allows', () => {
  test.each([
    'http://127.0.0.1:9000/hooks',
    'https://127.0.0.1:9000/hooks',
    'http://127.1:9000/hooks',
    'https://Hooks.Internal:8443/hooks',
    'http://[::1]/hooks',
    'https://10.0.0.1/hooks',
  ])('may have the URL %s', (url) => {
    expect(webhookUrlFault(url, 'url', ALLOWED)).toBeUndefined();
  });

  test.each([
    'http://127.0.0.1:9001/hooks',
    'http://127.0.0.2:9000/hooks',
    'http://a.hooks.internal:8443/hooks',
    'https://hooks.internal/hooks',
    'http://10.0.0.1/hooks',
    'http://user@127.0.0.1:9000/hooks',
    'http://127.0.0.1:9000/hooks#a',
    'ftp://127.0.0.1:9000/hooks',
  ])('may not have the URL %s', (url) => {
    expect(webhookUrlFault(url, 'url', ALLOWED)?.reason).toBe('invalid_webhook_url');
  });
});
