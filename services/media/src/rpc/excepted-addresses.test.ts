import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { startFakeDns } from '../../testing/fake-dns.ts';
import type { FakeDns } from '../../testing/fake-dns.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { TLS_AUTHORITY, fixture, redirects, serves, startOrigin } from '../../testing/origin.ts';
import type { Behaviour, Origin } from '../../testing/origin.ts';
import { answer, startRawOrigin } from '../../testing/raw-origin.ts';
import type { Raw, RawOrigin } from '../../testing/raw-origin.ts';

const KIB = 1024;
const PICTURE = fixture('image.png');
const UNREACHED = 'could not be fetched: its address cannot be reached';

let dns: FakeDns;
/** Private origins: of the media of clients, of results, of both, and of neither. */
let inputs: Origin;
let secure: Origin;
let raw: RawOrigin;
let results: RawOrigin;
let both: Origin;
let neither: RawOrigin;
let under: MediaUnderTest;
let tasks = 0;

beforeAll(async () => {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), TLS_AUTHORITY]);
  const always = answer(['200 OK', 'content-type: image/png', 'content-length: 3'], 'abc');
  [dns, inputs, secure, raw, results, both, neither] = await Promise.all([
    startFakeDns(),
    startOrigin(),
    startOrigin({ tls: true }),
    startRawOrigin(),
    startRawOrigin({ always }),
    startOrigin(),
    startRawOrigin({ always }),
  ]);
  for (const name of ['store.example', 'secure.example']) dns.answer(name, ['127.0.0.1']);
  under = await startMediaUnderTest({
    section: {
      fetch: {
        allow: [
          ...[inputs, secure, raw].map(({ host }) => ({ host, for: 'inputs' })),
          { host: results.host, for: 'results' },
          both.host,
        ],
        dns_servers: [dns.address],
        timeouts: { dns: '500ms', headers: '200ms', idle: '200ms', image_total: '1s' },
      },
      limits: { image: '100KiB' },
    },
  });
});
afterAll(async () => {
  await under.close();
  await Promise.all([dns, inputs, secure, raw, results, both, neither].map((server) => server.close()));
});

const newTask = (): string => `task_${(tasks += 1)}`;
const stage = (url: string) =>
  under.client.stageMedia({ accountId: 'demo', taskId: newTask(), category: Category.IMAGE, url });
const ingest = (url: string) => under.client.ingestResult({ accountId: 'demo', taskId: newTask(), url });
const refusedStage = async (url: string) => readFields(await catchRefusal(stage(url)));

describe('a client names media at an address that only results may use', () => {
  const SPELLINGS: readonly (readonly [string, (port: number) => string])[] = [
    ['as an address', (port) => `http://127.0.0.1:${port}/v.mp4`],
    ['over TLS', (port) => `https://127.0.0.1:${port}/v.mp4`],
    ['as a number', (port) => `http://2130706433:${port}/v.mp4`],
    ['as a mapped address', (port) => `http://[::ffff:127.0.0.1]:${port}/v.mp4`],
    ['by a name', (port) => `http://store.example:${port}/v.mp4`],
    ['by a redirect', (port) => inputs.url(redirects(`http://127.0.0.1:${port}/v.mp4`))],
    ['by a redirect to a name', (port) => inputs.url(redirects(`http://store.example:${port}/v.mp4`))],
  ];

  test.each(SPELLINGS)('%s: it is refused like any other private address, without a connection', async (_how, at) => {
    const [refused, other] = await Promise.all([refusedStage(at(results.port)), refusedStage(at(neither.port))]);

    expect(refused).toEqual(other);
    expect(refused).toMatchObject({ kind: 'invalid', reason: 'invalid_media' });
    expect([results.connections(), neither.connections()]).toEqual([0, 0]);
  });
});

describe('an exception', () => {
  const video = serves(fixture('768p.mp4'));
  const picture = serves(PICTURE);

  test('without a purpose is for media of clients and for results', async () => {
    expect((await stage(both.url(picture))).media).toMatchObject({ mediaType: 'image/png' });
    expect((await ingest(both.url(video))).result).toMatchObject({ mediaType: 'video/mp4' });
  });

  test('for media of clients is not for results, not even by a redirect', async () => {
    expect((await stage(inputs.url(picture))).media).toMatchObject({ mediaType: 'image/png' });
    const before = inputs.hits.length;

    for (const url of [inputs.url(video), both.url(redirects(inputs.url(video)))])
      expect(await catchRefusal(ingest(url))).toMatchObject({ reason: 'result_refused' });
    expect(inputs.hits.length).toBe(before);
  });

  test('for results is for results, also by a redirect', async () => {
    const before = results.connections();

    for (const url of [`http://${results.host}/v.mp4`, both.url(redirects(`http://${results.host}/v.mp4`))])
      expect(await catchRefusal(ingest(url))).toMatchObject({
        message: expect.stringContaining('not a readable video'),
      });
    expect(results.connections()).toBeGreaterThan(before);
  });
});

describe('a private address that is excepted for media of clients answers', () => {
  const says =
    (status: number): Behaviour =>
    (_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end('words of the private host');
    };
  const to = (behaviour: Behaviour) => (): string => inputs.url(behaviour);
  const rawly = (what: Raw) => (): string => raw.url(what);
  const named = (url: string): string => url.replace('127.0.0.1', 'store.example');

  test.each<[string, () => string]>([
    ...[200, 201, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 407, 418, 429, 500, 502, 503, 504].map(
      (status): [string, () => string] => [`status ${status}`, to(says(status))],
    ),
    ['a circle', to((request, response) => redirects(request.url ?? '')(request, response))],
    ['a redirect to no address', to(redirects('http://['))],
    ['a redirect to a file', to(redirects('file:///etc/passwd'))],
    ['a redirect to another port', to(redirects('http://8.8.8.8:25/'))],
    ['a redirect to a private address', to(redirects('http://10.0.0.1/'))],
    ['a redirect to this service', to(redirects('https://gate.example/v1/models'))],
    ['another type', to(serves(PICTURE, { 'content-type': 'text/html' }))],
    ['an encoding', to(serves(PICTURE, { 'content-encoding': 'gzip' }))],
    ['a page that is named a picture', to(serves(Buffer.from('<html>'), { 'content-type': 'image/png' }))],
    ['half a picture', to(serves(PICTURE.subarray(0, 2000), { 'content-type': 'image/png' }))],
    ['a video', to(serves(fixture('768p.mp4').subarray(0, 90 * KIB)))],
    ['too many bytes', to(serves(Buffer.alloc(200 * KIB)))],
    ['nothing', to(serves(Buffer.alloc(0)))],
    ['silence', rawly(() => undefined)],
    ['a body that stops', rawly((socket) => void socket.write(answer(['200 OK', 'content-length: 30'], 'abc')))],
    ['a reset', rawly((socket) => void socket.resetAndDestroy())],
    ['another protocol', rawly('SSH-2.0-OpenSSH_9.2\r\n')],
    ['in the clear to a request over TLS', () => inputs.url(says(200)).replace('http:', 'https:')],
    ['a certificate of another name', () => secure.url(serves(PICTURE)).replace('127.0.0.1', 'secure.example')],
    ['over TLS to a request in the clear', () => secure.url(serves(PICTURE)).replace('https:', 'http:')],
    ['over TLS, with a status', () => secure.url(says(404))],
    ['by a name, with a status', () => named(inputs.url(says(404)))],
    ['by a name, too late', () => named(raw.url(() => undefined))],
    ['by a redirect of another, with a status', () => both.url(redirects(inputs.url(says(503))))],
  ])('%s: the client learns one sentence', async (_what, url) => {
    expect(await refusedStage(url())).toEqual({
      kind: 'invalid',
      reason: 'invalid_media',
      field: undefined,
      message: UNREACHED,
    });
  });

  test('nothing, because nothing listens: the client learns the same sentence', async () => {
    const gone = await startOrigin();
    const { host } = gone;
    await gone.close();
    const alone = await startMediaUnderTest({ section: { fetch: { allow: [{ host, for: 'inputs' }] } } });
    const url = `http://${host}/`;

    expect(
      await catchRefusal(alone.client.stageMedia({ accountId: 'demo', taskId: 't', category: Category.IMAGE, url })),
    ).toMatchObject({ reason: 'invalid_media', message: UNREACHED });
    await alone.close();
  });

  test('a picture that breaks a rule: the client learns the rule', async () => {
    expect(await refusedStage(inputs.url(serves(fixture('small.png'))))).toMatchObject({
      message: 'must have sides from 256 to 5760 pixels; it has 32×32',
    });
  });
});
