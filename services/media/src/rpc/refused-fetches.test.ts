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
      throw new Error('it was taken');
    },
    (error: unknown) => error as Problem,
  );
const says = (raw: Raw) => (): string => origin.url(raw);

describe('a client learns what it did wrong, and nothing of where that led:', () => {
  test.each<[string, () => string]>([
    ['loopback', () => 'http://127.0.0.1:80/'],
    ['another port of what may be reached', () => 'http://127.0.0.1:443/'],
    ['metadata', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a decimal address', () => 'http://2130706433/'],
    ['a mapped address', () => 'http://[::ffff:10.0.0.1]/'],
    ['NAT64', () => 'http://[64:ff9b::a00:1]/'],
    ['a private name', () => 'http://db.internal/'],
    ['a name that leads inside', () => 'http://private.example/'],
    ['a name that leads inside, too', () => `http://mixed.example:${String(origin.port)}/`],
    ['an unknown name', () => 'http://unknown.example/'],
    ['a name that the resolver fails at', () => 'http://failing.example/'],
    ['a name that is not answered', () => 'http://silent.example/'],
    ['a port that is not dialled', () => 'http://private.example:22/'],
    ['a user', () => 'http://user:hidden@private.example/'],
    ['a redirect inside', says(answer(['302 Found', 'location: http://10.0.0.1/'], BANNER))],
    ['a redirect to a private name', says(answer(['302 Found', 'location: http://db.internal/'], BANNER))],
    ['a redirect to a file', says(answer(['302 Found', 'location: file:///etc/passwd'], BANNER))],
    ['a redirect to a user', says(answer(['302 Found', 'location: http://u:p@10.0.0.1/'], BANNER))],
    ['a redirect to ourselves', says(answer(['302 Found', 'location: https://gate.example/v1/models'], BANNER))],
    ['a redirect to nowhere', says(answer(['302 Found'], BANNER))],
    ['a circle', says(answer(['302 Found', 'location: ?'], BANNER))],
    ['an error with words in it', says(answer([`500 ${BANNER}`, `x: ${BANNER}`], BANNER))],
    ['a refusal with words in it', says(answer([`403 ${BANNER}`], BANNER))],
    ['another type', says(answer(['200 OK', `content-type: text/x-${BANNER.replaceAll(' ', '-')}`], BANNER))],
    ['another encoding', says(answer(['200 OK', 'content-encoding: x-banner'], BANNER))],
    ['words instead of a picture', says(answer(['200 OK', 'content-type: image/png'], BANNER))],
    ['another protocol', says(`SSH-2.0-${BANNER}\r\n`)],
    ['TLS where there is none', () => origin.url('').replace('http:', 'https:')],
    ['a length that lies', says(answer(['200 OK', 'content-length: 999'], BANNER))],
    ['a length over the bound', says(answer(['200 OK', 'content-length: 99999999999'], BANNER))],
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
        taskId: `task_${String((tasks += 1))}`,
        category: Category.IMAGE,
        url,
      }),
    );
    const ingested = await problemOf(
      under.client.ingestResult({
        accountId: 'demo',
        taskId: `task_${String(tasks)}`,
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
