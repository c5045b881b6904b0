import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Adapter, Calls, LostAttempt, UpstreamRequest } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { anAttempt } from '../../testing/an-attempt.ts';
import { channelSettings } from '../../testing/channel-settings.ts';
import { openScriptedUpstream } from './adapter-contract/scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './adapter-contract/scripted-upstream.ts';
import { channelFactory } from './adapter-channel.ts';
import type { AskToWait, Channel, ChannelSettings, UpstreamCallback } from './channel.ts';

const signal = new AbortController().signal;
const clock = fakeClock(1_000_000);
const OK: ScriptedAnswer = { status: 200, json: { id: 'work-1' } };
const GET: UpstreamRequest = { method: 'GET', path: '/work' };
const LOST: LostAttempt = {
  key: 'task_1-1',
  model: 'up-1',
  startedAt: 1_000_000 - 90_000,
  endedAt: 1_000_000 - 60_000,
};
const VISIBLE_AFTER_MS = 60_000;

const CALLS: Calls = {
  buildSubmit: (attempt) => ({ method: 'POST', path: '/works', json: attempt }),
  readSubmit: () => ({ outcome: 'accepted', upstreamId: 'work-1' }),
  *poll(upstreamId) {
    yield GET;
    const failure = { code: 'failed', message: `${upstreamId} failed` };
    return { found: true, report: { phase: 'failed', status: 'failed', failure } };
  },
  *test() {
    yield GET;
    return { ok: true, detail: '' };
  },
};

let upstream: ScriptedUpstream;
let other: ScriptedUpstream;
const opened: Channel[] = [];

beforeAll(async () => {
  upstream = await openScriptedUpstream();
  other = await openScriptedUpstream();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(async () => {
  await Promise.all([upstream.close(), other.close()]);
});

/** Opens a channel of an adapter that serves generations, with some of its operations. The upstream answers OK. */
function openWith(
  calls: Partial<Calls>,
  adapter: Partial<Adapter> = {},
  settings: Partial<ChannelSettings> = {},
  askToWait?: AskToWait,
): Channel {
  upstream.script(OK, OK, OK);
  other.script(OK);
  const channel = channelFactory({
    kit: 1,
    endpoints: ['video.generation'],
    credential: { header: 'x-key' },
    ...adapter,
    openCalls: () => ({ ...CALLS, ...calls }),
  })(channelSettings({ baseUrl: `${upstream.url}/base`, ...settings }), clock, askToWait);
  opened.push(channel);
  return channel;
}

describe('a submission', () => {
  test.each(['regeneration', 'context_ir'] as const)('of a %s is refused without a call', async (kind) => {
    expect(await openWith({}).submit(anAttempt({ kind }), signal)).toMatchObject({
      outcome: 'refused',
      fault: 'unfit',
    });
    expect(upstream.requests).toEqual([]);
  });

  test('reaches the adapter unchanged', async () => {
    const attempt = anAttempt();

    const submission = await openWith({}).submit({ ...attempt, extraJson: '{"user": "me"}' }, signal);

    expect(submission).toEqual({ outcome: 'accepted', upstreamId: 'work-1', status: 200 });
    expect(upstream.requests).toMatchObject([
      { method: 'POST', path: '/base/works', headers: { 'x-key': 'upstream-key' } },
    ]);
    expect(upstream.requests[0]?.body).toEqual({ ...attempt, extra: {} });
  });

  test('sends nothing if an extra field would not reach the upstream', async () => {
    const submission = await openWith({}).submit({ ...anAttempt(), extraJson: '{"seed": 1}' }, signal);

    expect(submission).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(upstream.requests).toEqual([]);
  });

  test('sends nothing if the adapter fails to build it', async () => {
    const channel = openWith({
      buildSubmit: () => {
        throw new Error('no model');
      },
    });

    expect(await channel.submit(anAttempt(), signal)).toMatchObject({ outcome: 'refused', fault: 'channel' });
    expect(upstream.requests).toEqual([]);
  });

  test('has an unknown outcome if the adapter fails to read the answer', async () => {
    const channel = openWith({
      readSubmit: () => {
        throw new Error('no id');
      },
    });

    expect(await channel.submit(anAttempt(), signal)).toMatchObject({ outcome: 'unknown', status: 200 });
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('a refusal that an adapter takes for one of its channel', () => {
  const submitRefused = async (json: unknown) => {
    const channel = openWith({ readSubmit: () => ({ outcome: 'refused', fault: 'credential', error: 'HTTP 403' }) });
    upstream.script({ status: 403, json });
    return channel.submit(anAttempt(), signal);
  };
  test('is one of the content if its body says so', async () => {
    const error = { code: '403', innererror: { code: 'ResponsibleAIPolicyViolation' } };

    expect(await submitRefused({ error })).toEqual({
      outcome: 'refused',
      fault: 'content',
      error: 'HTTP 403',
      status: 403,
    });
  });
  test('stays one of the key otherwise', async () => {
    expect(await submitRefused({ error: { message: 'no such key' } })).toMatchObject({ fault: 'credential' });
  });
});

describe('a probe', () => {
  test.each<[string, ScriptedAnswer, string]>([
    ['200 is up', OK, 'up'],
    ['401 is down', { status: 401, json: {} }, 'down'],
    ['503 is down', { status: 503, json: {} }, 'down'],
    ['404, where there is no list, is unclear', { status: 404, json: {} }, 'unclear'],
  ])('that is answered with %s, whatever the adapter makes of it', async (_what, answer, verdict) => {
    const channel = openWith({});
    upstream.script(answer);

    expect(await channel.probe(signal)).toBe(verdict);
  });
  test('of an upstream that cannot be reached is down', async () => {
    const channel = openWith({}, {}, { baseUrl: 'http://127.0.0.1:9' });

    expect(await channel.probe(signal)).toBe('down');
  });
});

describe('a poll', () => {
  test('reports a failure in the words of the upstream', async () => {
    expect(await openWith({}).poll('work-1', signal)).toMatchObject({
      report: { failure: { message: 'work-1 failed' } },
    });
  });

  test('makes a bounded number of calls', async () => {
    const channel = openWith({
      *poll() {
        for (;;) yield GET;
      },
    });
    upstream.script(...Array.from({ length: 100 }, () => OK));

    expect(await channel.poll('work-1', signal)).toMatchObject({ found: false, gone: false });
    expect(upstream.requests.length).toBeLessThan(100);
  });

  test('says nothing about the work if the adapter fails', async () => {
    const channel = openWith({
      *poll() {
        yield GET;
        throw new Error('odd');
      },
    });

    expect(await channel.poll('work-1', signal)).toMatchObject({ found: false, gone: false });
  });

  test('of several works gives each a result, and one that the upstream does not list is gone', async () => {
    const channel = openWith(
      {
        *pollMany(ids) {
          const { body } = yield { method: 'GET', path: `/works?ids=${ids.join(',')}` };
          return { [String(readObject(body)['id'])]: { found: true, report: { phase: 'queued', status: 'queued' } } };
        },
      },
      { pollManyMax: 20 },
    );

    expect(channel.pollManyMax).toBe(20);
    expect(Object.fromEntries(await channel.pollMany(['work-1', 'work-2'], signal))).toEqual({
      'work-1': { found: true, report: { phase: 'queued', status: 'queued' } },
      'work-2': { found: false, gone: true, error: expect.any(String) },
    });
    expect(upstream.requests).toHaveLength(1);
  });

  test('of several works without a whole answer says nothing about any of them', async () => {
    const channel = openWith({
      *pollMany() {
        yield GET;
        return {};
      },
    });
    upstream.script('reset');

    expect((await channel.pollMany(['work-1'], signal)).get('work-1')).toMatchObject({ found: false, gone: false });
  });

  test('of several works asks for one after the other where the upstream takes one id', async () => {
    const channel = openWith({});

    expect(channel.pollManyMax).toBe(1);
    expect([...(await channel.pollMany(['a', 'b'], signal)).keys()]).toEqual(['a', 'b']);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe('an upstream that asks to wait', () => {
  const refuse: Calls['readSubmit'] = () => ({ outcome: 'refused', fault: 'throttle', error: 'busy' });
  const step = function* () {
    yield GET;
    return { found: false, gone: false, error: 'busy' } as const;
  } as Calls['poll'];
  const calls: Partial<Calls> = {
    readSubmit: refuse,
    poll: step,
    *pollMany() {
      yield GET;
      return {};
    },
    *find() {
      yield GET;
      return { outcome: 'cannot know', why: 'busy' };
    },
    *list() {
      yield GET;
      return [];
    },
    *cancel() {
      yield GET;
      return false;
    },
  };
  const operations: readonly (readonly [string, 'work' | 'reads', (channel: Channel) => Promise<unknown>])[] = [
    ['a submission', 'work', (channel) => channel.submit(anAttempt(), signal)],
    ['a poll', 'reads', (channel) => channel.poll('work-1', signal)],
    ['a poll of several works', 'reads', (channel) => channel.pollMany(['work-1', 'work-2'], signal)],
    ['a search', 'reads', (channel) => channel.find(LOST, signal)],
    ['a list', 'reads', (channel) => channel.list(0, signal)],
    ['a cancel', 'reads', (channel) => channel.cancel('work-1', signal)],
  ];

  test.each(operations)('at %s is obeyed: 429 by calls of its kind, 503 by all', async (_what, kind, run) => {
    const asked: unknown[] = [];
    const channel = openWith(calls, { pollManyMax: 10 }, {}, (kinds, ms) => asked.push([kinds, ms]));
    upstream.script(
      { status: 429, json: {}, headers: { 'retry-after': '4' } },
      { status: 503, json: {}, headers: { 'retry-after-ms': '2500' } },
      { status: 400, json: {}, headers: {} },
    );
    for (let times = 0; times < 3; times += 1) await run(channel);

    expect(asked).toEqual([
      [[kind], 4000],
      [['work', 'reads'], 2500],
    ]);
  });

  test('because of the size of one order does not ask all: the order is at fault', async () => {
    const asked: unknown[] = [];
    const channel = openWith(calls, {}, {}, (kinds, ms) => asked.push([kinds, ms]));
    const error = { message: 'Request too large for clip: Limit 30000, Requested 50000', code: 'rate_limit_exceeded' };
    upstream.script({ status: 429, json: { error }, headers: { 'retry-after': '30' } });

    expect(await channel.submit(anAttempt(), signal)).toEqual({
      outcome: 'refused',
      fault: 'order',
      error: 'busy',
      status: 429,
    });
    expect(asked).toEqual([]);
  });

  test('in its own words is obeyed, and its refusal says for how long', async () => {
    const asked: unknown[] = [];
    const channel = openWith(calls, {}, {}, (kinds, ms) => asked.push([kinds, ms]));
    upstream.script({ status: 200, json: { base_resp: { status_code: 1002 } }, headers: { 'x-ratelimit-reset': '3' } });

    expect(await channel.submit(anAttempt(), signal)).toMatchObject({ fault: 'throttle', retryAfterMs: 3000 });
    expect(asked).toEqual([[['work'], 3000]]);
  });
});

describe('the address of a result', () => {
  const report = (url: string, needsKey = true): Partial<Calls> => ({
    *poll() {
      yield GET;
      return { found: true, report: { phase: 'succeeded', status: 'done', url, needsKey } };
    },
  });

  test('that begins with a slash follows base_url and gets the key', async () => {
    expect(await openWith(report('/files/1')).poll('work-1', signal)).toMatchObject({
      report: { url: `${upstream.url}/base/files/1`, credential: { header: 'x-key' } },
    });
  });

  test.each(['https://elsewhere.example/1', 'http://127.0.0.1:1/1', 'no address'])(
    'that is elsewhere gets no key: %s',
    async (url) => {
      const polled = await openWith(report(url)).poll('work-1', signal);

      expect(polled).toMatchObject({ report: { url } });
      expect(polled).not.toHaveProperty('report.credential');
    },
  );
});

test('a channel has a list if its adapter reads one', async () => {
  const none = openWith({});
  const listing = openWith({
    *list() {
      yield GET;
      return [];
    },
  });

  expect([none.canList, await none.list(0, signal)]).toEqual([false, undefined]);
  expect([listing.canList, await listing.list(0, signal)]).toEqual([true, []]);
});

describe('a search by the key of an attempt', () => {
  const search = (outcome: 'never arrived' | 'accepted'): Partial<Calls> => ({
    *find() {
      yield GET;
      return outcome === 'accepted' ? { outcome, upstreamId: 'work-1' } : { outcome };
    },
  });

  test('cannot be made where the upstream cannot be asked', async () => {
    const channel = openWith({});

    expect([channel.canFind, await channel.find(LOST, signal)]).toMatchObject([false, { outcome: 'cannot know' }]);
  });

  test('finds the work', async () => {
    expect(await openWith(search('accepted')).find(LOST, signal)).toEqual({
      outcome: 'accepted',
      upstreamId: 'work-1',
    });
  });

  test.each([
    [VISIBLE_AFTER_MS, 'never arrived'],
    [VISIBLE_AFTER_MS + 1, 'cannot know'],
    [undefined, 'cannot know'],
  ])(
    'that finds nothing proves it only once the upstream knows each attempt: %p ms',
    async (visibleAfterMs, outcome) => {
      expect(await openWith(search('never arrived'), { visibleAfterMs }).find(LOST, signal)).toMatchObject({ outcome });
    },
  );

  test('without a whole answer cannot know', async () => {
    const channel = openWith(search('accepted'));
    upstream.script('reset');

    expect(await channel.find(LOST, signal)).toMatchObject({ outcome: 'cannot know' });
  });
});

describe('a further host', () => {
  const ask: Partial<Calls> = {
    *test() {
      const { status } = yield { method: 'GET', path: '/rows', host: 'platform' };
      return { ok: status === 200, detail: '' };
    },
  };

  test('that the adapter declares is asked with the key, at the address of the configuration', async () => {
    const channel = openWith(ask, { hosts: { platform: 'http://127.0.0.1:1' } }, { hosts: { platform: other.url } });

    expect(await channel.test(signal)).toMatchObject({ ok: true });
    expect(other.requests).toMatchObject([{ path: '/rows', headers: { 'x-key': 'upstream-key' } }]);
  });

  test('that the adapter does not declare is not asked', async () => {
    expect(await openWith(ask).test(signal)).toMatchObject({ ok: false });
  });
});

describe('the public keys of an upstream', () => {
  const SIGNED: Partial<Adapter> = {
    callbacks: {
      readId: (body) => String(body['id']),
      signature: {
        form: 'ed25519',
        header: 'x-signature',
        signedHeaders: ['x-time'],
        timeHeader: 'x-time',
        keys: 'https://keys.example/.well-known/jwks.json',
      },
    },
  };
  const pair = generateKeyPairSync('ed25519');
  const KEYS: ScriptedAnswer = { status: 200, json: { keys: [pair.publicKey.export({ format: 'jwk' })] } };
  const body = Buffer.from('{"id":"work-1"}');
  const signAt = (now: number): UpstreamCallback => {
    const time = String(Math.floor(now / 1000));
    const digest = createHash('sha256').update(body).digest('hex');
    const signature = sign(null, Buffer.from(`${time}\n${digest}`), pair.privateKey).toString('hex');
    return { headers: { 'x-time': time, 'x-signature': signature }, body };
  };
  const openSigned = (): Channel => openWith({}, SIGNED, { hosts: { keys: other.url } });

  test('are read once for callbacks at the same time, without the key of the channel', async () => {
    const channel = openSigned();
    other.script(KEYS);

    const readings = await Promise.all(
      Array.from({ length: 20 }, () => channel.readCallback(signAt(clock.now()), undefined)),
    );

    expect(readings).toEqual(readings.map(() => ({ signature: 'right', upstreamId: 'work-1' })));
    expect(other.requests).toMatchObject([{ path: '/.well-known/jwks.json' }]);
    expect(other.requests[0]?.headers).not.toHaveProperty('x-key');
  });

  test.each<[string, ScriptedAnswer]>([
    ['whose host fails', { status: 503, json: {} }],
    ['that are not there', { status: 404, json: { detail: 'Not Found' } }],
    ['of another kind', { status: 200, json: { keys: [{ kty: 'oct', k: 'AAAA' }] } }],
    ['that are none', { status: 200, json: { keys: [{}, null, 'key', 7] } }],
  ])('%s leave a callback unchecked, and are read again after a minute at the earliest', async (_which, answer) => {
    const channel = openSigned();
    other.script(answer, KEYS);
    const read = async (): Promise<string> => (await channel.readCallback(signAt(clock.now()), undefined)).signature;

    expect([await read(), await read()]).toEqual(['unchecked', 'unchecked']);
    expect(other.requests).toHaveLength(1);

    await clock.advance(60_000);
    expect(await read()).toBe('right');
    expect(other.requests).toHaveLength(2);
  });
});
