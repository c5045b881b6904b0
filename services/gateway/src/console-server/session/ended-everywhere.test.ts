import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until, untilAfter } from '@reelgate/platform/testing/until';
import { TOKEN } from '../../../testing/fake-services.ts';
import { fakeSessions } from '../../../testing/fake-sessions.ts';
import type { FakeSessions } from '../../../testing/fake-sessions.ts';
import { OPERATOR_KEYS, checkedConfig, startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import type { Answer } from '../../../testing/http-call.ts';
import { listen } from '../../../testing/open-stream.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

/** A replica of a gateway, at one of its doors. */
interface Door {
  readonly url: string;
  readonly clock: FakeClock;
  stop(): Promise<void>;
}
interface DoorKind {
  open(sessions: FakeSessions): Promise<Door>;
  readonly signIn: object;
}

const client: DoorKind = {
  open: async (sessions) => startGatewayUnderTest({ sessions, publicUrl: 'http://gateway.example' }),
  signIn: { token: TOKEN },
};
const operator: DoorKind = {
  open: async (sessions) => {
    const { url, stop, gateway } = await startOperatorUnderTest({ sessions });
    return { url, stop, clock: gateway.clock };
  },
  signIn: { key: OPERATOR_KEYS.viewer },
};

let opened: { stop(): Promise<void> }[];
let sessions: FakeSessions;
beforeEach(() => {
  opened = [];
  sessions = fakeSessions();
});
afterEach(async () => {
  for (const one of opened) await one.stop();
});
const keep = <T extends { stop(): Promise<void> }>(one: T): T => {
  opened.push(one);
  return one;
};

const own = (url: string) => ({ origin: url, 'x-reelgate-console': '1' });
const send = (url: string, method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
  call(url, method, `/console/api${path}`, { token: null, headers: { ...own(url), ...headers } });
const me = (url: string, cookie: string) => send(url, 'GET', '/me', { cookie });
const cookieOf = ({ headers }: Answer): string => String(headers['set-cookie']).split(';', 1)[0] ?? '';
const signInAt = async (url: string, body: object): Promise<string> =>
  cookieOf(await call(url, 'POST', '/console/api/session', { token: null, headers: own(url), body }));

describe.each([
  ['the console of clients', client],
  ['the console of operators', operator],
])('%s', (_title, kind) => {
  const open = async (): Promise<Door> => keep(await kind.open(sessions));

  test('takes no copy of a cookie after its sign-out: here at once, elsewhere within two seconds', async () => {
    const [here, there] = [await open(), await open()];
    const [copy, other] = [await signInAt(here.url, kind.signIn), await signInAt(here.url, kind.signIn)];
    const before = await Promise.all([me(here.url, copy), me(there.url, copy)]);
    const out = await send(here.url, 'DELETE', '/session', { cookie: copy });
    await there.clock.advance(1999);
    const after = await Promise.all([me(here.url, copy), me(there.url, copy), me(there.url, other)]);
    const restarted = await open();

    expect([...before, out].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(after.map(({ status }) => status)).toEqual([401, 401, 200]);
    expect((await me(restarted.url, copy)).status).toBe(401);
    expect((await me(restarted.url, other)).status).toBe(200);
  });

  test('signs out everywhere: every session until now ends, and the next one works at once', async () => {
    const [here, there] = [await open(), await open()];
    const copies = [await signInAt(here.url, kind.signIn), await signInAt(there.url, kind.signIn)];
    const out = await send(here.url, 'DELETE', '/sessions', { cookie: copies[0]! });
    const next = await signInAt(there.url, kind.signIn);
    await there.clock.advance(1999);
    const asked = await Promise.all([
      ...copies.flatMap((copy) => [me(here.url, copy), me(there.url, copy)]),
      me(here.url, next),
      me(there.url, next),
    ]);

    expect(out.status).toBe(200);
    expect(asked.map(({ status }) => status)).toEqual([401, 401, 401, 401, 200, 200]);
  });

  test('ends every session when the list of ended ones overflows', async () => {
    const here = await open();
    const copy = await signInAt(here.url, kind.signIn);
    sessions.overflow();
    await here.clock.advance(1999);

    expect((await me(here.url, copy)).status).toBe(401);
    expect((await me(here.url, await signInAt(here.url, kind.signIn))).status).toBe(200);
  });

  test('answers 503 once it has not known for two seconds which sessions have ended, and recovers', async () => {
    const here = await open();
    const cookie = await signInAt(here.url, kind.signIn);
    sessions.isAway = true;
    await here.clock.advance(1999);
    const known = await me(here.url, cookie);
    await here.clock.advance(1);
    const unknown = await me(here.url, cookie);
    sessions.isAway = false;

    expect([known.status, unknown.status, unknown.headers['retry-after']]).toEqual([200, 503, '1']);
    expect((await me(here.url, cookie)).status).toBe(200);
  });

  test('answers with a list that took three seconds, because it is as new as the request', async () => {
    const here = await open();
    const cookie = await signInAt(here.url, kind.signIn);
    await here.clock.advance(1000);
    sessions.beforeList = () => here.clock.advance(3000);
    const slow = await me(here.url, cookie);
    await send(here.url, 'DELETE', '/session', { cookie });

    expect(slow.status).toBe(200);
    expect((await me(here.url, cookie)).status).toBe(401);
  });

  test('says that a sign-out did not reach the service, and the browser forgets the session all the same', async () => {
    const here = await open();
    const cookie = await signInAt(here.url, kind.signIn);
    sessions.isAway = true;
    const out = await send(here.url, 'DELETE', '/session', { cookie });
    sessions.isAway = false;

    expect([out.status, out.json.error.code]).toEqual([503, 'sign_out_incomplete']);
    expect(out.json.error.message).toContain('a copy of its cookie may work until 2026-01-01T12:00:00.000Z');
    expect(String(out.headers['set-cookie'])).toContain('Max-Age=0');
    expect((await me(here.url, cookie)).status).toBe(200);
  });

  test('refuses a sign-in while it cannot know when the session begins', async () => {
    const here = await open();
    sessions.isAway = true;
    const answer = await call(here.url, 'POST', '/console/api/session', {
      token: null,
      headers: own(here.url),
      body: kind.signIn,
    });

    expect([answer.status, answer.headers['set-cookie']]).toEqual([503, undefined]);
  });

  test('refuses two cookies of one name, whichever comes first', async () => {
    const here = await open();
    const cookie = await signInAt(here.url, kind.signIn);
    const [name = ''] = cookie.split('=');
    const answers = await Promise.all(
      [`${cookie}; ${name}=x`, `${name}=; ${cookie}`, `${cookie};${cookie}`].map((both) => me(here.url, both)),
    );
    const beside = await me(here.url, `other=1; ${cookie}; x${name}=2`);

    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual(
      Array.from({ length: 3 }, () => [400, 'several_sessions']),
    );
    expect(beside.status).toBe(200);
  });

  test('asks billing once for the requests of a second', async () => {
    const here = await open();
    const cookie = await signInAt(here.url, kind.signIn);
    const before = sessions.lists;
    await here.clock.advance(1000);
    await Promise.all(Array.from({ length: 20 }, () => me(here.url, cookie)));
    await here.clock.advance(999);
    await me(here.url, cookie);

    expect(sessions.lists - before).toBe(1);
  });

  test('closes the stream of a session within two seconds of its end', async () => {
    const [here, there] = [await open(), await open()];
    const cookie = await signInAt(here.url, kind.signIn);
    const stream = await listen(here.url, '/console/api/stream?topics=tasks', { cookie });
    await send(there.url, 'DELETE', '/session', { cookie });
    const isOver = stream.ended.then(() => true);
    const from = here.clock.now();
    let over = false;
    void isOver.then(() => {
      over = true;
    });
    await untilAfter(here.clock, () => over);

    expect(here.clock.now() - from).toBeLessThanOrEqual(2000);
  });
});

test('a read with the token of a program needs no list of ended sessions', async () => {
  const gateway = keep(await startGatewayUnderTest({ sessions }));
  await call(gateway.url, 'GET', '/v1/models');

  expect(sessions.lists).toBe(0);
});

test('a session of a revoked token is refused within two seconds, even if the announcement is lost', async () => {
  const gateway = keep(await startGatewayUnderTest({ sessions, publicUrl: 'http://gateway.example' }));
  const cookie = await signInAt(gateway.url, client.signIn);
  const before = await me(gateway.url, cookie);
  gateway.billing.tokens.delete(TOKEN);
  await gateway.clock.advance(1999);

  expect([before.status, (await me(gateway.url, cookie)).status]).toEqual([200, 401]);
});

describe('operators of a new configuration', () => {
  const ADA = { name: 'ada', role: 'operator', key: 'the key of ada, who operates channels' };
  const BOB = { name: 'bob', role: 'viewer', key: 'the key of bob, who only looks around' };
  let console_: OperatorUnderTest;
  let ada: string;
  const takeUp = (...operators: object[]): Promise<void> =>
    console_.gateway.gateway.reload(checkedConfig({ operators }));
  beforeEach(async () => {
    console_ = keep(await startOperatorUnderTest({ sessions, operators: [ADA] }));
    ada = await signInAt(console_.url, { key: ADA.key });
  });

  test('may sign in, and the sessions of those who stay as they are go on', async () => {
    await takeUp(ADA, BOB);

    expect((await me(console_.url, await signInAt(console_.url, { key: BOB.key }))).json.name).toBe('bob');
    expect((await me(console_.url, ada)).status).toBe(200);
  });

  test.each([
    ['is gone', [BOB]],
    ['has a lower role', [{ ...ADA, role: 'viewer' }]],
    ['has another key', [{ ...ADA, key: 'another key of ada, who has a new one' }]],
    ['has another name', [{ ...ADA, name: 'eve' }]],
    ['is the last one and gone', []],
  ])('end the sessions and streams of one who %s, for good', async (_what, next: readonly object[]) => {
    const stream = await listen(console_.url, '/console/api/stream?topics=tasks', { cookie: ada });
    await takeUp(...next);
    const [asked] = [await me(console_.url, ada)];
    await console_.gateway.clock.advance(500);
    await stream.ended;
    await takeUp(ADA);
    const later = await me(console_.url, ada);

    expect([401, 404]).toContain(asked.status);
    expect(later.status).toBe(401);
    expect((await me(console_.url, await signInAt(console_.url, { key: ADA.key }))).status).toBe(200);
  });

  test('give no more than the role of the sign-in', async () => {
    await takeUp({ ...ADA, role: 'treasurer' });

    expect((await me(console_.url, ada)).json.role).toBe('operator');
    expect((await me(console_.url, await signInAt(console_.url, { key: ADA.key }))).json.role).toBe('treasurer');
  });

  test('end sessions for good even if billing was away at that moment', async () => {
    sessions.isAway = true;
    await takeUp();
    await until(() => console_.gateway.warnings.length > 0);
    sessions.isAway = false;
    await console_.gateway.clock.advance(1000);
    await takeUp(ADA);

    expect((await me(console_.url, ada)).status).toBe(401);
  });
});

describe('behind https', () => {
  const SECURE = /^__Host-reelgate-\w+=[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/;
  const signIn = (url: string, origin: string, body: object) =>
    call(url, 'POST', '/console/api/session', { token: null, headers: { ...own(url), origin }, body });

  test('the cookies of both consoles belong to the host alone, as public_url and admin_url say', async () => {
    const clients = keep(await startGatewayUnderTest({ sessions, publicUrl: 'https://video.example' }));
    const operators = keep(await startOperatorUnderTest({ sessions, adminUrl: 'https://ops.example' }));
    const answers = [
      await signIn(clients.url, 'https://video.example', client.signIn),
      await signIn(operators.url, 'https://ops.example', operator.signIn),
    ];
    const cookies = answers.map(cookieOf);
    const plain = cookies.map((cookie) => cookie.replace('__Host-', ''));

    for (const { headers } of answers) expect(String(headers['set-cookie'])).toMatch(SECURE);
    expect((await me(clients.url, cookies[0]!)).status).toBe(200);
    expect((await me(operators.url, cookies[1]!)).status).toBe(200);
    expect((await me(clients.url, plain[0]!)).status).toBe(401);
    expect((await me(operators.url, plain[1]!)).status).toBe(401);
  });

  test('a cookie over plain http has its plain name', async () => {
    const door = keep(await operator.open(sessions));

    expect(await signInAt(door.url, operator.signIn)).toMatch(/^reelgate-operator=/);
  });
});
