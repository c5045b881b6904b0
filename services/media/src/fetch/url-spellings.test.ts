import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromDotted, isPublic } from '../../testing/special-blocks.ts';
import { addressPolicy } from './address-policy.ts';
import { FetchFault, NOT_REACHED } from './fetch-fault.ts';
import { checkTarget, parseTarget } from './fetch-target.ts';

const POLICY = addressPolicy({ allow: [], ports: [80, 443] });

/** The host that would be asked for, or the code of the refusal. Nothing is looked up or dialled for it. */
function judged(text: string): { readonly host: string } | { readonly code: string; readonly said: string } {
  try {
    const url = parseTarget(text, POLICY);
    checkTarget(url, POLICY);
    return { host: url.host };
  } catch (error) {
    if (!(error instanceof FetchFault)) throw error;
    return { code: error.code, said: error.said };
  }
}

describe('an address that is no address to fetch, or needs repair,', () => {
  test.each([
    // schemes
    'file:///etc/passwd', 'FILE:///etc/passwd', 'ftp://a.example/', 'gopher://a.example:70/_x', 'dict://a.example:2628/', 'ldap://a.example/', 'tftp://a.example/', 'sftp://a.example/', 'jar:http://a.example!/', 'netdoc:///etc/passwd', 'php://filter', 'expect://id',
    'javascript:alert(1)', 'blob:http://a.example/1', 'data:image/png;base64,AAAA', 'view-source:http://a.example', 'about:blank', 'ws://a.example/', 'wss://a.example/', 'unix:/var/run/docker.sock', 'http+unix://%2fvar%2frun/', 'mailto:a@a.example', 'feed:http://a.example', 'httpx://a.example', 'http\u200b://a.example', 'url:http://a.example', '//a.example/', '://a.example', 'https//a.example', 'http;//a.example', 'a.example', '', ' ', '/', '?', '#',
    // slashes, white space and controls
    'http:a.example', 'http:/a.example', 'http:///a.example', 'http:////a.example', 'https:///a.example', 'http:\\\\a.example', 'http:/\\a.example', 'http:\\/a.example', 'http://\\a.example', 'http://a.example\\@b.example', 'http://a.example\\.b.example', 'http://a.example/\\x', ' http://a.example', 'http://a.example ', '\thttp://a.example', 'http\n://a.example', 'ht\ttp://a.example', 'http://a.exa\tmple', 'http://a.exa\r\nmple', 'http://a.example/\r\nHost: b', 'http://a.example\u0000', 'http://a.example/\u0000', 'http://a.example/\u007f', 'http://a.example/\u0085', 'http://a.example/\u00a0', 'http://a.example\u2028', '\ufeffhttp://a.example', 'http://a.example/\u3000', 'http://a b.example', 'http://a.example/a b',
    // users
    'http://user@a.example', 'http://user:pass@a.example', 'http://:pass@a.example', 'http://@a.example', 'http://:@a.example', 'http://@@a.example', 'http://a.example@b.example', 'http://a.example:80@b.example', 'http://a.example%2f@b.example', 'http://a.example%23@b.example', 'http://127.0.0.1%3a80@a.example', 'HTTPS://@a.example', 'http://[::1]@a.example', 'http://ａ＠a.example@b.example',
    // hosts
    'http://', 'https://', 'http://?x', 'http://#x', 'http://:80', 'http://:80/', 'http://[', 'http://]', 'http://[]', 'http://[::1', 'http://::1/', 'http://[a.example]', 'http://[127.0.0.1]', 'http://127.0.0.1]', 'http://[::1]x', 'http://[::1]:x', 'http://[v1.a]', 'http://[fe80::1%25eth0]', 'http://[fe80::1%eth0]', 'http://[::1%25lo]', 'http://[::127.1]', 'http://[::ffff:127.0.0.1.]', 'http://[::ffff:0x7f.0.0.1]', 'http://[0:0:0:0:0:0:0:0:1]', 'http://[:::1]', 'http://[::12345]', 'http://1.2.3.4.5', 'http://256.0.0.1', 'http://127.0.0.256', 'http://0x100000000', 'http://4294967296', 'http://127.0.0.08', 'http://0x7g.1', 'http://a.1', 'http://a.0x1', 'http://a.example%40b.example', 'http://a.example%00', 'http://localhost%00.a.example', 'http://127.0.0.1%0d%0a', 'http://a%', 'http://a%2', 'http://a%25b.example', 'http://a%2fb.example', 'http://a<b.example', 'http://a^b.example', 'http://a|b.example', 'http://\ud800.example', 'http://a\u2100b.example',
    // ports
    'http://a.example:0', 'http://a.example:22', 'http://a.example:25', 'http://a.example:6379', 'http://a.example:8080', 'http://a.example:81', 'https://a.example:444', 'http://a.example:65535', 'http://a.example:65536', 'http://a.example:99999999999', 'http://a.example:-80', 'http://a.example:+80', 'http://a.example:8０', 'http://a.example:80:80', 'http://a.example:80a', 'http://a.example:0x50', 'http://a.example:80 ', 'http://a.example:%38%30', 'http://8.8.8.8:22', 'http://[2600::1]:22',
    // length, as it is and as it becomes
    `http://a.example/${'x'.repeat(4080)}`, `http://a.example/${'ä'.repeat(700)}`, `http://a.example/?${'"'.repeat(1360)}`, `http://${'a'.repeat(5000)}.example`, `${'x'.repeat(5000)}://a.example`,
  ])('is refused: %j', (text) => {
    expect(judged(text)).toEqual({ code: 'url', said: expect.stringMatching(/^must have an? (valid http or https )?address/) });
  });
});

describe('a host that is not for us to ask', () => {
  test.each([
    // names, whatever their letters and dots look like
    'localhost', 'LOCALHOST', 'LocalHost', 'localhost.', 'localhost..', 'localhost...', 'lo\u00adcalhost', 'loc\u200bal\u2060host', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', '𝗅𝗈𝖼𝖺𝗅𝗁𝗈𝗌𝗍', 'loc%61lhost', '%6c%6f%63%61%6c%68%6f%73%74', 'localhost%2e', 'localhost。', 'a.localhost', 'a.b.localhost.', 'a.localhoſt',
    'intranet', 'a', 'a.', 'a。', 'xn--', '%6c', '.', '..', '.a.example', 'a..example', 'a.example..', 'a.example。。', '。a.example', 'a.%2e.example', 'metadata', 'kubernetes',
    'printer.local', 'printer.LOCAL', 'printer.local.', 'printer.local..', 'printer。local', 'printer．ｌｏｃａｌ', 'printer.lo%63al', 'metadata.google.internal', 'metadata.google.internal.', 'metadata.google.internal..', 'METADATA.GOOGLE.INTERNAL', 'metadata.google.ⓘnternal', 'x.home.arpa', 'x.arpa', '1.0.0.127.in-addr.arpa', 'ipv4only.arpa', 'router.lan', 'x.onion', 'x.i2p', 'x.invalid', 'db.default.svc.cluster.local', 'db.default.svc.cluster.local.',
    // addresses
    '0', '0.', '0x', '1', '8', '127.1', '127.0.1', '2130706433', '0x7f000001', '0X7F000001', '017700000001', '0177.1', '0x7f.1', '127.0.0.1.', '127。0。0。1', '１２７.1', '①②⑦.1', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '%31%32%37.1', '0x7f.0.0.0x1', '00000177.0.0.1', '127.0.0.1%2e', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.16689662', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::ffff:127.0.0.1]', '[::FFFF:7F00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', '[fd00:ec2::254]', '[fe80::1]', '[fec0::1]', '[ff02::1]',
  ])('is refused: %s', (host) => {
    for (const url of [`http://${host}/`, `https://${host}`, `HTTP://${host}:80/x?y#z`, `https://${host}:443?q`]) expect([url, judged(url)]).toEqual([url, { code: 'address', said: NOT_REACHED }]);
  });
});

describe('a host of the public internet', () => {
  test.each([
    ['http://a.example', 'a.example'], ['HTTP://A.EXAMPLE/', 'a.example'], ['hTtPs://a.example', 'a.example'], ['http://a.example.', 'a.example.'], ['http://a.example:', 'a.example'], ['http://a.example:80', 'a.example'], ['http://a.example:443', 'a.example:443'], ['https://a.example:80', 'a.example:80'], ['http://a.example:00080', 'a.example'],
    ['http://ünï.example', 'xn--n-nga1b.example'], ['http://例え.テスト', 'xn--r8jz45g.xn--zckzah'], ['http://xn--n3h.example', 'xn--n3h.example'], ['http://ａ.example', 'a.example'], ['http://a.exam%70le', 'a.example'], ['http://a_b.example', 'a_b.example'], ['http://127.0.0.1.example', '127.0.0.1.example'], ['http://localhost.a.example', 'localhost.a.example'], ['http://local.example', 'local.example'], ['http://notlocal.notinternal', 'notlocal.notinternal'],
    ['http://8.8.8.8', '8.8.8.8'], ['http://134744072', '8.8.8.8'], ['http://[2600::1]', '[2600::1]'], ['http://[::ffff:8.8.8.8]', '[::ffff:808:808]'],
    // what comes behind the host is not the host
    ['http://a.example/@b', 'a.example'], ['http://a.example/#@127.0.0.1/', 'a.example'], ['http://a.example?@127.0.0.1/', 'a.example'], ['http://a.example/http://127.0.0.1/', 'a.example'], ['http://a.example/../../..//127.0.0.1/', 'a.example'], ['http://a.example/%0d%0aHost:%20127.0.0.1', 'a.example'], ['http://a.example/?u=http://u:p@127.0.0.1', 'a.example'],
  ])('%j is asked for as %s', (text, host) => {
    expect(judged(text)).toEqual({ host });
  });

  test('has an address of 4096 characters and none of 4097', () => {
    const ofLength = (length: number): string => 'http://a.example/'.padEnd(length, 'x');

    expect([judged(ofLength(4096)), judged(ofLength(4097))]).toEqual([{ host: 'a.example' }, { code: 'url', said: expect.stringContaining('4096') }]);
  });
});

test('whatever is written, it is a permitted host or a refusal that says nothing of where it led', () => {
  const piece = fc.constantFrom('http://', 'https://', '127.0.0.1', 'localhost', '[::1]', '@', ':', '/', '\\', '.', '%', '%2e', '。', '#', '?', '80', '443', 'a.example', '\t', ' ', '\u00ad', '0x7f', '10.0.0.1', '8.8.8.8', 'ⓛ', '[', ']', '..');
  fc.assert(fc.property(fc.array(piece, { maxLength: 8 }), fc.string(), (pieces, tail) => {
    const outcome = judged(`http://${pieces.join('')}${tail}`);
    if ('host' in outcome) {
      const host = outcome.host.replace(/:\d+$/, '');
      return /^\d+(\.\d+){3}$/.test(host) ? isPublic(4, fromDotted(host)) : /^[^@\\[\]]+\.[^@\\[\]]+$/.test(host) && !/(^|\.)localhost\.*$/.test(host);
    }
    return !/127\.0|::1|10\.0|localhost/.test(outcome.said);
  }), { numRuns: 2000 });
});
