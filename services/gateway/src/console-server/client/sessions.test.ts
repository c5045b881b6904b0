import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { TASK_ID, aCompletedTask } from '../../../testing/a-task.ts';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';

const OWN = { origin: 'https://gateway.example', 'x-reelgate-console': '1' };

let under: GatewayUnderTest;
beforeEach(async () => {
  under = await startGatewayUnderTest();
});
afterEach(() => under.stop());

const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, headers: Record<string, string> = {}, body?: object) =>
  call(under.url, method, path, { token: null, headers, ...(body === undefined ? {} : { body }) });
const signIn = (token: string, headers: Record<string, string> = OWN) =>
  ask('POST', '/console/api/session', headers, { token });
const cookieOf = (answer: Awaited<ReturnType<typeof ask>>): string =>
  String(answer.headers['set-cookie'] ?? '').split(';', 1)[0] ?? '';

describe('signing in', () => {
  test('answers with a cookie that pages cannot read, that no other site sends, and of this host alone', async () => {
    const answer = await signIn(TOKEN);

    expect([answer.status, answer.json.accountId]).toEqual([200, 'demo']);
    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-reelgate-console=[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(String(answer.headers['set-cookie'])).not.toContain(TOKEN);
    expect((await ask('GET', '/console/api/me', { cookie: cookieOf(answer) })).json).toMatchObject({
      accountId: 'demo',
    });
  });

  test.each([
    ['an unknown token', 'unknown-token', OWN, 401],
    ['no token', '', OWN, 401],
    ['a page of another site', TOKEN, { ...OWN, origin: 'https://evil.example' }, 403],
    ['no origin', TOKEN, { 'x-reelgate-console': '1' }, 403],
    ['a form, which has no header of ours', TOKEN, { origin: OWN.origin }, 403],
  ] as [string, string, Record<string, string>, number][])(
    'is refused for %s',
    async (_what, token, headers, status) => {
      const answer = await signIn(token, headers);

      expect([answer.status, answer.headers['set-cookie']]).toEqual([status, undefined]);
    },
  );
});

describe('a session', () => {
  let cookie: string;
  beforeEach(async () => {
    cookie = cookieOf(await signIn(TOKEN));
  });

  test('reads the public API below /console/api, and changes through it what the token may change', async () => {
    const models = await ask('GET', '/console/api/v1/models', { cookie });
    const made = await ask('POST', '/console/api/v1/videos', { cookie, ...OWN }, { model: 'Alpha-H3', prompt: 'x' });

    expect([models.status, made.status]).toEqual([200, 200]);
    expect(under.tasks.creates).toHaveLength(1);
  });

  test.each([
    ['nothing', {}, 401],
    ['the header of a program', { authorization: `Bearer ${TOKEN}` }, 401],
    [
      'a cookie that was made up',
      { cookie: '__Host-reelgate-console=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
      401,
    ],
  ] as [string, Record<string, string>, number][])('is not %s', async (_what, headers, status) => {
    const answer = await ask('GET', '/console/api/me', headers);

    expect([answer.status, answer.json.error.code]).toEqual([status, 'signed_out']);
  });

  test('changes nothing for a page of another site', async () => {
    const body = { model: 'Alpha-H3', prompt: 'x' };
    const answers = await Promise.all([
      ask('POST', '/console/api/v1/videos', { cookie }, body),
      ask('POST', '/console/api/v1/videos', { cookie, ...OWN, origin: 'https://evil.example' }, body),
      ask('POST', '/console/api/v1/videos', { cookie, origin: OWN.origin }, body),
      ask('DELETE', '/console/api/v1/videos/task_1', { cookie }),
      ask('GET', '/console/api/me', { cookie, 'sec-fetch-site': 'cross-site' }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect(under.tasks.creates).toHaveLength(0);
  });

  test('plays a video from its own origin, even if results are in a bucket', async () => {
    under.tasks.tasks.set(`demo/${TASK_ID}`, aCompletedTask());
    const answer = await ask('GET', `/console/api/v1/videos/${TASK_ID}/content`, { cookie });

    expect(answer.text).toBe(`obj_0123456789 ${TASK_ID}.mp4 from here`);
  });

  test('is no token of the public API', async () => {
    expect((await ask('GET', '/v1/models', { cookie })).status).toBe(401);
  });

  test('ends as soon as its token is revoked', async () => {
    expect((await ask('GET', '/console/api/me', { cookie })).status).toBe(200);
    under.billing.tokens.set(TOKEN, { disabled: true });
    under.bus.announce(TokenChangedSchema, create(TokenChangedSchema, { tokenId: `token-${TOKEN}` }));

    expect((await ask('GET', '/console/api/me', { cookie })).status).toBe(403);
  });

  test('ends with its time, and when a person signs out', async () => {
    const out = await ask('DELETE', '/console/api/session', { cookie, ...OWN });
    await under.clock.advance(12 * 60 * 60 * 1000);

    expect(String(out.headers['set-cookie'])).toMatch(/^__Host-reelgate-console=; .*Max-Age=0/);
    expect((await ask('GET', '/console/api/me', { cookie })).status).toBe(401);
  });
});
