import { describe, expect, test } from '@jest/globals';
import { LIMITS, fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { redirects, serves } from '../../../testing/origin.ts';
const BYTES = Buffer.from('the very bytes');
const { origin, forbidden, secure, dns, fetchOf, faultOf } = await fetchWorldOfTests();

describe('a fetch', () => {
  test('gets the bytes of a permitted address over http and https, by address and by name', async () => {
    dns.answer('media.example', ['127.0.0.1']);

    expect(await fetchOf(origin.url(serves(BYTES)))).toEqual({ bytes: BYTES });
    expect(await fetchOf(secure.url(serves(BYTES)))).toEqual({ bytes: BYTES });
    expect(await fetchOf(origin.url(serves(BYTES)).replace('127.0.0.1', 'media.example'))).toEqual({ bytes: BYTES });
    expect(await fetchOf(secure.url(serves(BYTES)).replace('127.0.0.1', 'media.example.'))).toEqual({ bytes: BYTES });
  });

  test('sends no data except a user agent and the identity encoding', async () => {
    await fetchOf(`${origin.url(serves(BYTES))}?q=1#fragment`);

    const { path: asked, headers } = origin.hits.at(-1) ?? { path: '', headers: {} };
    expect(asked).toMatch(/^\/\d+\?q=1$/);
    expect(headers).toEqual({
      host: origin.host,
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'reelgate-media/1',
      connection: 'close',
    });
  });
});

describe('addresses', () => {
  const REFUSED = [
    'http://127.0.0.1:PORT/',
    'http://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.0.0.1:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://017700000001:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://%31%32%37.0.0.1:PORT/',
    'http://１２７.0.0.1:PORT/',
    'http://①②⑦.0.0.1:PORT/',
    'http://0:PORT/',
    'http://0.0.0.0:PORT/',
    'https://127.0.0.1:PORT/',
    'http://127。0。0。1:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://[0:0:0:0:0:0:0:1]:PORT/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://168.63.129.16/',
    'http://10.0.0.1/',
    'http://[fe80::1]/',
    'http://localhost:PORT/',
    'http://LOCALHOST:PORT/',
    'http://localhost.:PORT/',
    'http://a.localhost:PORT/',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://intranet/',
    'http://x.cluster.local/',
    'http://x.home.arpa/',
  ];
  test.each(REFUSED)('%s is not dialled', async (url) => {
    const before = forbidden.hits.length;

    expect(await faultOf(url.replace('PORT', String(forbidden.port)))).toMatchObject({
      code: 'address',
      said: 'could not be fetched: its address cannot be reached',
    });
    expect(forbidden.hits.length).toBe(before);
  });

  test.each([['http://8.8.8.8:22/'], ['http://8.8.8.8:6379/'], ['https://8.8.8.8:25/']])(
    '%s is refused for its port',
    async (url) => {
      expect((await faultOf(url)).code).toBe('url');
    },
  );

  test.each([
    'http:127.0.0.1/',
    'http:///127.0.0.1/',
    'http:\\\\127.0.0.1/',
    ' http://a.example/',
    'http://a.exa\nmple/',
    'http://a.example/a b',
    'http://user@a.example/',
    'http://user:pass@a.example/',
    'ftp://a.example/',
    `http://a.example/${'x'.repeat(4096)}`,
    'http://[::1',
    'http://a.example:99999/',
  ])('%j cannot be fetched', async (url) => {
    expect((await faultOf(url)).code).toBe('url');
  });
});

describe('names', () => {
  const port = (): string => String(forbidden.port);

  test.each([
    ['private', [['127.0.0.1']]],
    ['one of two private', [['8.8.8.8', '127.0.0.1']]],
    ['private in IPv6 only', [['8.8.8.8', '0:0:0:0:0:0:0:1']]],
    ['mapped private', [['0:0:0:0:0:ffff:7f00:1']]],
    ['metadata', [['169.254.169.254']]],
    ['carrier NAT', [['100.64.0.1']]],
  ])('a name whose answer is %s is refused entirely', async (what, answers) => {
    const name = `${what.replaceAll(' ', '-').toLowerCase()}.example`;
    dns.answer(name, ...answers);
    const before = forbidden.hits.length;

    expect((await faultOf(`http://${name}:${port()}/`)).code).toBe('address');
    expect((await faultOf(`https://${name}:${port()}/`)).code).toBe('address');
    expect(forbidden.hits.length).toBe(before);
  });

  test('a name whose answer changes is judged by the answer that is dialled', async () => {
    dns.answer('rebind.example', ['127.0.0.1'], ['127.0.0.1']);
    const url = origin.url(serves(BYTES)).replace('127.0.0.1', 'rebind.example');
    expect(await fetchOf(url)).toEqual({ bytes: BYTES });

    dns.answer('rebind.example', ['10.0.0.1']);

    expect((await faultOf(url)).code).toBe('address');
  });

  test('an unknown name gets the same refusal as a private one', async () => {
    dns.answer('private.example', ['10.0.0.1']);

    const [unknown, hidden] = [await faultOf('http://unknown.example/'), await faultOf('http://private.example/')];
    expect(unknown.code).toBe('network');
    expect(unknown.said).toBe(hidden.said);
  });

  test('a name without an answer in time is given up', async () => {
    dns.answer('silent.example', 'silence');

    expect(
      await faultOf('http://silent.example/', {
        limits: { ...LIMITS, stagesMs: { ...LIMITS.stagesMs, resolve: 300 } },
      }),
    ).toMatchObject({ code: expect.stringMatching(/slow|network/) });
  });
});

describe('redirects', () => {
  const to = (target: string, status?: number): string => origin.url(redirects(target, status));

  test.each([301, 302, 303, 307, 308])('%i is followed, relative and absolute', async (status) => {
    const good = origin.url(serves(BYTES));

    expect(await fetchOf(to(good, status))).toEqual({ bytes: BYTES });
    expect(await fetchOf(to(new URL(good).pathname, status))).toEqual({ bytes: BYTES });
  });

  test('at most three are followed', async () => {
    const three = to(to(to(origin.url(serves(BYTES)))));

    expect(await fetchOf(three)).toEqual({ bytes: BYTES });
    expect((await faultOf(to(three))).code).toBe('redirects');
  });

  test.each([
    'http://127.0.0.1:PORT/',
    'http://[::1]:PORT/',
    'https://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    '//127.0.0.1:PORT/',
    'http://private.example:PORT/',
    'http://localhost:PORT/',
  ])('one to %s is refused', async (target) => {
    dns.answer('private.example', ['127.0.0.1']);
    const before = forbidden.hits.length;

    expect((await faultOf(to(target.replace('PORT', String(forbidden.port))))).code).toBe('address');
    expect(forbidden.hits.length).toBe(before);
  });

  test.each([
    'file:///etc/passwd',
    'ftp://a.example/',
    'gopher://a.example/',
    'data:text/plain,x',
    'http://user:pass@a.example/',
  ])('one to %s is refused', async (target) => {
    expect((await faultOf(to(target))).code).toBe('url');
  });

  test('one to this service is refused', async () => {
    expect(
      (await faultOf(to('http://gate.example/v1/videos'), { isOwn: (url) => url.hostname === 'gate.example' })).code,
    ).toBe('address');
  });

  test('one without a target, or with an endless target, is refused', async () => {
    expect(
      (
        await faultOf(
          origin.url((_request, response) => {
            response.writeHead(302).end();
          }),
        )
      ).code,
    ).toBe('redirects');
    expect((await faultOf(to(`/${'x'.repeat(5000)}`))).code).toBe('redirects');
  });
});
