import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import type { FetchWorld } from '../../../testing/fetch-world.ts';
import { redirects, serves } from '../../../testing/origin.ts';
import { answer, floods } from '../../../testing/raw-origin.ts';
import { NOT_REACHED } from '../../domain/fetch-fault.ts';

const BYTES = Buffer.from('the very bytes');
const STATUSES = [301, 302, 303, 307, 308];
const world = await fetchWorldOfTests();
/** The connections to the forbidden server. Their number must not change. */
const hitsBefore = world.forbidden.hits.length;

beforeAll(() => {
  world.dns.answer('private.example', ['127.0.0.1']);
  world.dns.answer('mixed.example', ['8.8.8.8', '127.0.0.1']);
  world.dns.answer('six.example', ['0:0:0:0:0:0:0:1']);
  world.dns.answer('metadata.example', ['169.254.169.254']);
  world.dns.answer('media.example', ['127.0.0.1']);
});
afterEach(() => {
  expect(world.forbidden.hits.length).toBe(hitsBefore);
});
const to = (target: string, status?: number): string =>
  world.origin.url(redirects(target.replace('PORT', String(world.forbidden.port)), status));

describe.each(STATUSES)('a redirect by %i', (status) => {
  test.each([
    'http://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    'HTTP://127.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f000001:PORT/',
    'http://0177.0.0.1:PORT/',
    'http://１２７.0.0.1:PORT/'.normalize('NFKC'),
    'http://%31%32%37.0.0.1:PORT/',
    'http://127.0.0.1.:PORT/',
    'http://0:PORT/',
    'http://[::1]:PORT/',
    'http://[::]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[::127.0.0.1]:PORT/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://168.63.129.16/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[2600:1f18::5efe:a00:1]/',
    'http://localhost:PORT/',
    'http://LOCALHOST.:PORT/',
    'http://a.localhost:PORT/',
    'http://intranet/',
    'http://metadata.google.internal/',
    'http://printer.local/',
    'http://x.cluster.local/',
    'http://x.home.arpa/',
    'http://private.example:PORT/',
    'https://private.example:PORT/',
    'http://mixed.example:PORT/',
    'http://six.example:PORT/',
    'http://metadata.example/',
    // texts that a URL parser repairs
    '//127.0.0.1:PORT/',
    '//localhost:PORT/',
    '//private.example:PORT/x',
    '\\\\127.0.0.1:PORT/',
    '/\\127.0.0.1:PORT/',
    '\\/127.0.0.1:PORT',
    'http:\\\\127.0.0.1:PORT/',
    'http:/\\/127.0.0.1:PORT/',
    'http:////127.0.0.1:PORT/',
    'ht\ttp://127.0.0.1:PORT/',
    '\thttp://127.0.0.1:PORT/',
    '/\t/127.0.0.1:PORT/',
    'https:127.0.0.1:PORT/',
    '//127.0.0.1:PORT\\@media.example/',
    '///127.0.0.1:PORT',
  ])('to %j is refused, and the target gets no byte', async (target) => {
    const fault = await world.faultOf(to(target, status));

    expect(fault).toMatchObject({ code: 'address', said: NOT_REACHED });
  });

  test.each([
    'file:///etc/passwd',
    'ftp://media.example/',
    'gopher://127.0.0.1:6379/_INFO',
    'data:image/png;base64,AAAA',
    'javascript:alert(1)',
    'blob:http://media.example/1',
    'ws://media.example/',
    'about:blank',
    'mailto:a@media.example',
    'unix:/var/run/docker.sock',
    'http://user@media.example/',
    'http://user:pass@media.example/',
    'http://:pass@media.example/',
    '//user:pass@media.example/',
    'http://media.example:22/',
    'http://media.example:6379/',
    'https://media.example:0/',
    '//media.example:25',
  ])('to %j is refused', async (target) => {
    expect((await world.faultOf(to(target, status))).code).toBe('url');
  });

  test.each([
    'http://',
    'http://[',
    'http://a b/',
    'http://127.0.0.256/',
    'http://media.example:99999/',
    'https://%00/',
    'http://media.example:x/',
    `/${'x'.repeat(4096)}`,
  ])('to a text that is not an address is refused: %j', async (target) => {
    expect((await world.faultOf(to(target, status))).code).toBe('redirects');
  });

  test('is followed to a permitted target in any notation', async () => {
    const good = new URL(world.origin.url(serves(BYTES)));

    for (const target of [
      good.href,
      good.pathname,
      `//${good.host}${good.pathname}`,
      `.${good.pathname}`,
      `x/..${good.pathname}`,
      `?x`,
      `${good.href}#@127.0.0.1`,
      good.href.replace('http:', 'HTTP:').replace('127.0.0.1', 'media.example'),
    ]) {
      const url =
        target === '?x'
          ? world.origin.url((request, response) => {
              (request.url?.endsWith('?x') === true ? serves(BYTES) : redirects('?x', status))(request, response);
            })
          : to(target, status);
      expect([target, await world.fetchOf(url)]).toEqual([target, { bytes: BYTES }]);
    }
  });
});

describe('a chain of redirects', () => {
  test('has at most three redirects, over any servers and schemes', async () => {
    const good = world.origin.url(serves(BYTES));
    const one = world.secure.url(redirects(good, 307));
    const two = to(one, 301);
    const three = world.secure.url(redirects(two, 303));

    expect(await world.fetchOf(three)).toEqual({ bytes: BYTES });
    expect((await world.faultOf(to(three, 308))).code).toBe('redirects');
    expect((await world.faultOf(three, { redirectsMax: 2 })).code).toBe('redirects');
    expect((await world.faultOf(to(good), { redirectsMax: 0 })).code).toBe('redirects');
  });

  test('that is a circle makes four requests', async () => {
    const circle = world.origin.url((request, response) => {
      redirects(request.url ?? '')(request, response);
    });
    const before = world.origin.hits.length;

    expect((await world.faultOf(circle)).code).toBe('redirects');
    expect(world.origin.hits.length - before).toBe(4);
  });

  test.each([1, 2, 3])('is checked at each step: a bad target at step %i is refused', async (step) => {
    let url = `http://127.0.0.1:${world.forbidden.port}/`;
    for (let at = 0; at < step; at += 1) url = to(url);

    expect((await world.faultOf(url)).code).toBe('address');
  });
});

describe('an address of this service', () => {
  const isOwn = (url: URL): boolean => url.hostname === 'media.example';

  test.each([
    'http://media.example/v1/videos/task_1/content',
    'https://MEDIA.example/ximg/vid_1.mp4',
    '//media.example/',
    'http://m%65dia.example/v1/models',
  ])('is not requested when a redirect leads to it: %s', async (target) => {
    expect(await world.faultOf(to(target), { isOwn })).toMatchObject({ code: 'address', said: NOT_REACHED });
  });

  test('is not requested when an upstream reports it as a result', async () => {
    const asked = world.dns.asked.length;

    expect(
      await world.faultOf('http://media.example/v1/videos/task_1/content', {
        isOwn,
        credential: { header: 'authorization', value: new Secret('Bearer key') },
      }),
    ).toMatchObject({ code: 'address', said: NOT_REACHED });
    expect(world.dns.asked.length).toBe(asked);
  });
});

describe('a Location', () => {
  test.each([
    ['missing', answer(['302 Found', 'content-length: 0'])],
    ['empty, which names the same address', answer(['302 Found', 'location: ', 'content-length: 0'])],
    [
      'repeated, the first good',
      answer(['302 Found', 'location: /9999', 'location: http://10.0.0.1/', 'content-length: 0']),
    ],
    [
      'repeated, the second good',
      answer(['302 Found', 'location: http://10.0.0.1/', 'location: /9999', 'content-length: 0']),
    ],
    ['repeated with the same value', answer(['302 Found', 'location: /9999', 'Location: /9999', 'content-length: 0'])],
    [
      'in another header',
      answer(['302 Found', 'content-location: /9999', 'refresh: 0; url=/9999', 'uri: /9999', 'content-length: 0']),
    ],
  ])('that is %s is refused', async (_what, said) => {
    expect((await world.faultOf(world.raw.url(said))).code).toBe('redirects');
  });

  test('that is too long for an address or for the headers is refused', async () => {
    expect((await world.faultOf(world.raw.url(answer(['302 Found', `location: /${'x'.repeat(5000)}`])))).code).toBe(
      'redirects',
    );
    expect((await world.faultOf(world.raw.url(answer(['302 Found', `location: /${'x'.repeat(50_000)}`])))).code).toBe(
      'network',
    );
  });

  test.each([300, 304, 305, 306, 309, 200, 201, 404])('in a %i answer is ignored', async (status) => {
    const fetched = await world.fetchOf(
      world.raw.url(answer([`${status} X`, 'location: http://127.0.0.1:1/', 'content-length: 0'])),
    );

    expect('bytes' in fetched ? 200 : fetched.fault.code).toBe(status === 200 ? 200 : 'status');
  });

  test.each([
    ['endless', floods('HTTP/1.1 302 Found\r\nlocation: /9999\r\n\r\n', 'x')],
    ['compressed', answer(['302 Found', 'location: /9999', 'content-encoding: gzip', 'content-length: 3'], 'abc')],
    ['truncated', answer(['302 Found', 'location: /9999', 'content-length: 300'], 'abc')],
  ])('is followed although the body is %s', async (_what, said) => {
    expect(await world.faultOf(world.raw.url(said))).toMatchObject({
      code: 'status',
      message: expect.stringContaining('404'),
    });
  });
});

describe('the request to the target of a redirect', () => {
  const SENT = { accept: '*/*', 'accept-encoding': 'identity', connection: 'close', 'user-agent': 'reelgate-media/1' };
  const seenBy = (server: { hits: FetchWorld['origin']['hits'] }): unknown[] =>
    server.hits.slice(-1).map(({ headers: { host: _host, ...headers } }) => headers);
  const sets = (target: string) =>
    world.origin.url((_request, response) => {
      response
        .writeHead(302, {
          location: target,
          'set-cookie': 'a=b',
          'www-authenticate': 'Basic',
          'referrer-policy': 'unsafe-url',
        })
        .end();
    });

  test.each(['http to http', 'http to https'])(
    'carries no data of this service and none of the redirecting server: %s',
    async (way) => {
      const server = way === 'http to http' ? world.origin : world.secure;

      expect(await world.fetchOf(sets(server.url(serves(BYTES))))).toEqual({ bytes: BYTES });
      expect(seenBy(server)).toEqual([SENT]);
    },
  );

  test.each([
    ['authorization', 'Bearer upstream-key'],
    ['x-goog-api-key', 'upstream-key'],
  ])(
    'carries the credential in %s to its own origin only: no other name, port or scheme gets it',
    async (header, key) => {
      const credential = { header, value: new Secret(key) };
      const good = world.origin.url(serves(BYTES));

      await world.fetchOf(to(good), { credential });
      expect(seenBy(world.origin)).toEqual([{ ...SENT, [header]: key }]);
      await world.fetchOf(to(good.replace('127.0.0.1', 'media.example')), { credential });
      expect(seenBy(world.origin)).toEqual([SENT]);
      await world.fetchOf(to(world.secure.url(serves(BYTES))), { credential });
      expect(seenBy(world.secure)).toEqual([SENT]);
      await world.fetchOf(world.secure.url(redirects(to(world.secure.url(serves(BYTES))))), { credential });
      expect(seenBy(world.origin)).toEqual([SENT]);
      expect(seenBy(world.secure)).toEqual([SENT]);
    },
  );
});
