import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Problem } from '@reelgate/platform/problem';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { startFakeDns } from '../../testing/fake-dns.ts';
import type { FakeDns } from '../../testing/fake-dns.ts';
import { TELLING } from '../../testing/fetch-world.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { answer, startRawOrigin } from '../../testing/raw-origin.ts';
import type { Raw, RawOrigin } from '../../testing/raw-origin.ts';

let origin: RawOrigin;
let dns: FakeDns;
let under: MediaUnderTest;
let tasks = 0;

beforeAll(async () => {
  [origin, dns] = await Promise.all([startRawOrigin(), startFakeDns()]);
  dns.answer('private.example', ['10.0.0.1']);
  dns.answer('mixed.example', ['127.0.0.1', '10.0.0.1']);
  dns.answer('failing.example', { code: 2 });
  dns.answer('silent.example', 'silence');
  under = await startMediaUnderTest({
    section: {
      fetch: {
        allow: [origin.host],
        dns_servers: [dns.address],
        timeouts: { dns: '200ms', headers: '200ms', idle: '200ms', image_total: '1s' },
      },
    },
  });
});
afterAll(async () => {
  await under.close();
  await Promise.all([origin.close(), dns.close()]);
});
afterEach(() => {
  expect(under.blobs()).toEqual([]);
});

const BANNER = 'banner of 10.0.0.1 in /etc/passwd';
const problemOf = async (call: Promise<unknown>): Promise<Problem> =>
  call.then(
    () => {
      throw new Error('the call was accepted');
    },
    (error: unknown) => error as Problem,
  );
const says = (raw: Raw) => (): string => origin.url(raw);

describe('the refusal names the fault of the client and nothing of the network:', () => {
  test.each<[string, () => string]>([
    ['loopback', () => 'http://127.0.0.1:80/'],
    ['another port of a permitted address', () => 'http://127.0.0.1:443/'],
    ['metadata', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a decimal address', () => 'http://2130706433/'],
    ['a mapped address', () => 'http://[::ffff:10.0.0.1]/'],
    ['NAT64', () => 'http://[64:ff9b::a00:1]/'],
    ['a private name', () => 'http://db.internal/'],
    ['a name of a private address', () => 'http://private.example/'],
    ['a name of a public and a private address', () => `http://mixed.example:${origin.port}/`],
    ['an unknown name', () => 'http://unknown.example/'],
    ['a name at which the resolver fails', () => 'http://failing.example/'],
    ['a name without an answer', () => 'http://silent.example/'],
    ['a forbidden port', () => 'http://private.example:22/'],
    ['a user', () => 'http://user:hidden@private.example/'],
    ['a redirect into the private network', says(answer(['302 Found', 'location: http://10.0.0.1/'], BANNER))],
    ['a redirect to a private name', says(answer(['302 Found', 'location: http://db.internal/'], BANNER))],
    ['a redirect to a file', says(answer(['302 Found', 'location: file:///etc/passwd'], BANNER))],
    ['a redirect with a user name', says(answer(['302 Found', 'location: http://u:p@10.0.0.1/'], BANNER))],
    ['a redirect to this service', says(answer(['302 Found', 'location: https://gate.example/v1/models'], BANNER))],
    ['a redirect to nowhere', says(answer(['302 Found'], BANNER))],
    ['a circle', says(answer(['302 Found', 'location: ?'], BANNER))],
    ['an error with a text', says(answer([`500 ${BANNER}`, `x: ${BANNER}`], BANNER))],
    ['a refusal with a text', says(answer([`403 ${BANNER}`], BANNER))],
    ['another type', says(answer(['200 OK', `content-type: text/x-${BANNER.replaceAll(' ', '-')}`], BANNER))],
    ['another encoding', says(answer(['200 OK', 'content-encoding: x-banner'], BANNER))],
    ['text instead of a picture', says(answer(['200 OK', 'content-type: image/png'], BANNER))],
    ['another protocol', says(`SSH-2.0-${BANNER}\r\n`)],
    ['https at an http port', () => origin.url('').replace('http:', 'https:')],
    ['a false length', says(answer(['200 OK', 'content-length: 999'], BANNER))],
    ['a length over the limit', says(answer(['200 OK', 'content-length: 99999999999'], BANNER))],
    [
      'a reset',
      says((socket) => {
        socket.resetAndDestroy();
      }),
    ],
    ['silence', says(() => undefined)],
    [
      'half a body',
      says((socket) => {
        socket.write(answer(['200 OK', 'content-length: 999'], BANNER));
      }),
    ],
  ])('%s', async (_what, urlOf) => {
    const url = urlOf();
    const staged = await problemOf(
      under.client.stageMedia({
        accountId: 'demo',
        taskId: `task_${(tasks += 1)}`,
        category: Category.IMAGE,
        url,
      }),
    );
    const ingested = await problemOf(
      under.client.ingestResult({
        accountId: 'demo',
        taskId: `task_${tasks}`,
        url,
        authorization: 'Bearer upstream-key',
      }),
    );

    expect(staged).toMatchObject({ kind: 'invalid', reason: 'invalid_media' });
    expect(ingested.reason).toMatch(/^result_(refused|unreachable)$/);
    for (const { message } of [staged, ingested]) {
      expect(message).not.toMatch(TELLING);
      expect(message).not.toMatch(/banner|passwd|hidden|upstream-key|gate\.example/);
    }
  });
});
