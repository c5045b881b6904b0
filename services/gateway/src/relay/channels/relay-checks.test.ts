import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { startTestServer } from '@reelgate/platform/testing/test-server';
import type { TestServer } from '@reelgate/platform/testing/test-server';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { relayChannelSettings } from './relay-channel-config.ts';
import type { CheckedRelayChannel } from './relay-channel-config.ts';
import { newRelayChannels } from './relay-channels.ts';
import type { RelayChannels } from './relay-channels.ts';
import { relayCheck } from './relay-checks.ts';

const CALL_MS = 200;
const KEY = 'upstream-secret-key';

let channels: RelayChannels;
let upstream: TestServer;
let asked: string[] = [];
afterEach(async () => {
  asked = [];
  await channels.close();
  await upstream.stop();
});

async function openWith(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  ...some: readonly Partial<CheckedRelayChannel>[]
): Promise<RelayChannels> {
  upstream = await startTestServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''} ${request.headers.authorization ?? 'without a key'}`);
    answer(request, response);
  });
  const settings = some.map((one) => relayChannelSettings(aRelayChannel({ base_url: upstream.url, ...one })));
  return (channels = newRelayChannels(settings, { clock: fakeClock(), chance: () => 0.5 }));
}
const answering =
  (status: number) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status).end('{}');
  };
const verdicts = async (of: RelayChannels) =>
  [await relayCheck(of, CALL_MS).check(new AbortController().signal)].flat();

test.each([200, 404, 405, 429])('an upstream that answers its list of models with %i works', async (status) => {
  const of = await openWith(answering(status), { id: 'one' }, { id: 'off', enabled: false });

  expect(await verdicts(of)).toEqual([{ grade: 'ok', detail: '1 enabled; 1 answer, and every circuit is closed' }]);
  expect(asked).toEqual([`GET /v1/models Bearer ${KEY}`]);
});

test.each([401, 403])('an upstream that answers %i refuses the key of its channel', async (status) => {
  const found = await verdicts(await openWith(answering(status), { id: 'one' }));

  expect(found).toMatchObject([
    { grade: 'fail', detail: `relay channel one: the upstream refuses its key (${status})` },
  ]);
  expect(found[0]?.advice).toContain('api_key');
});

test('an upstream that fails is a warning', async () => {
  expect(await verdicts(await openWith(answering(503), { id: 'one' }))).toMatchObject([
    { grade: 'warn', detail: 'relay channel one: the upstream answers 503' },
  ]);
});

test('an upstream that is away or hangs is named with what happened, without its host, and hides no other', async () => {
  const of = await openWith(
    ({ url }, response) => {
      if (url?.startsWith('/works')) response.end('{}');
    },
    { id: 'hangs' },
    { id: 'away', base_url: 'http://127.0.0.1:1' },
    { id: 'works', base_url: 'http://127.0.0.1:1' },
  );
  of.replace([
    ...of.all().flatMap(({ settings }) => (settings.id === 'works' ? [] : [settings])),
    relayChannelSettings(aRelayChannel({ id: 'works', base_url: `${upstream.url}/works` })),
  ]);

  const found = await verdicts(of);

  expect(found).toMatchObject([
    { grade: 'fail', detail: 'relay channel hangs: the upstream is not reached (no answer in time)' },
    { grade: 'fail', detail: 'relay channel away: the upstream is not reached (ECONNREFUSED)' },
  ]);
  expect(JSON.stringify(found)).not.toContain('127.0.0.1');
});

test('a Google upstream gets its key in its own header, and is asked for its own list', async () => {
  let key: unknown;
  const of = await openWith(
    (request, response) => {
      key = request.headers['x-goog-api-key'];
      response.end('{}');
    },
    { auth: 'x-goog-api-key' },
  );
  await verdicts(of);

  expect([asked, key]).toEqual([['GET /v1beta/models without a key'], KEY]);
});

test('a circuit that is open is a failure although the upstream answers', async () => {
  const of = await openWith(answering(200), { id: 'one' });
  for (let fault = 0; fault < 5; fault += 1) of.all()[0]?.circuit.failed();

  expect(await verdicts(of)).toMatchObject([
    {
      grade: 'fail',
      detail: 'relay channel one gets no calls, because it failed for several accounts, or for a call of our own',
    },
  ]);
});
