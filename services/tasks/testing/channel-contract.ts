import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Adapter } from '@reelgate/adapter-kit';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import type {
  Channel,
  ChannelSettings,
  FindOutcome,
  ListedWork,
  LostAttempt,
  PlannedAttempt,
  PollResult,
  Submission,
} from '../src/channels/channel.ts';
import { channelFactory } from '../src/channels/adapter-channel.ts';
import type { Report } from '../src/domain/report.ts';
import { channelSettings } from './channel-settings.ts';
import { deepFrozen } from './object-graph.ts';
import { openScriptedUpstream } from './scripted-upstream.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './scripted-upstream.ts';

/*
 * The contract suite of adapters. It reads six files of recorded or documented answers, each a JSON list of cases; the
 * interfaces below are the shapes of the cases. Paths begin after `base_url`. An answer is `{status, json}` or
 * `{status, text}`. A result URL at the upstream itself is written `{base}/…`.
 *
 * | File              | Case                 | Shows                                                        |
 * |-------------------|----------------------|--------------------------------------------------------------|
 * | `submit-requests` | `SubmitRequestCase`  | the exact request for an attempt; at least one               |
 * | `submit-answers`  | `SubmitAnswerCase`   | the submission for each answer to a submit; at least one     |
 * | `polls`           | `PollCase`           | the report for each answer to a poll; every phase of the API |
 * | `lists`           | `ListCase`           | the work in a list; `[]`: the API has no list                |
 * | `cancels`         | `CancelCase`         | whether a cancel is confirmed; `[]`: the API has no cancel   |
 * | `tests`           | `TestCase`           | what `reelgate channel test` shows; at least one             |
 * | `finds`           | `FindCase`           | the outcome of a search by key; only with `find`             |
 * | `polls-many`      | `PollManyCase`       | the results of a poll of several; only with `pollMany`       |
 */

type Phase = Report['phase'];

/** An adapter under test. */
export interface AdapterSubject {
  readonly name: string;
  readonly adapter: Adapter;
  /** The id of the polled work in the fixtures. Default: `UPSTREAM_ID`. */
  readonly upstreamId?: string | undefined;
  /** The folder with the six files of cases. */
  readonly fixtures: string;
  /** The phases that the API of the upstream does not have. */
  readonly lacksPhases?: readonly Phase[] | undefined;
}

interface RequestMade {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}
interface Case {
  readonly name: string;
}
interface SubmitRequestCase extends Case {
  readonly attempt: PlannedAttempt;
  readonly request: RequestMade;
  readonly contentType?: string;
}
interface SubmitAnswerCase extends Case {
  readonly answer: ScriptedAnswer;
  readonly submission: Submission;
}
interface PollCase extends Case {
  /** One answer, or those of several calls. */
  readonly answer?: ScriptedAnswer;
  readonly answers?: readonly ScriptedAnswer[];
  /** Absent: any GET without a body. */
  readonly request?: RequestMade;
  readonly requests?: readonly RequestMade[];
  readonly polled: PollResult;
}
interface PollManyCase extends Case {
  readonly upstreamIds: readonly string[];
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  /** By upstream id. */
  readonly polled: Readonly<Record<string, PollResult>>;
}
interface FindCase extends Case {
  readonly lost: LostAttempt;
  /** The time of the search, in milliseconds since 1970. */
  readonly now: number;
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly found: FindOutcome;
}
interface ListCase extends Case {
  readonly since: number;
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly works?: readonly ListedWork[];
}
interface CancelCase extends Case {
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly confirmed: boolean;
}
interface TestCase extends Case {
  readonly answer: ScriptedAnswer;
  readonly request: RequestMade;
  readonly tested: { readonly ok: boolean; readonly detail: string };
}

const API_KEY = 'sk-upstream-0123456789';
const UPSTREAM_ID = '424010985738629';
const PREFIX = '/base/path';
/** Long enough for a loaded machine to answer. */
const PATIENT_MS = 10_000;
/** Longer than any test runs. */
const LONG_MS = 600_000;
const NOWHERE = 'http://127.0.0.1:1';
const REDACTED = /sk-upstream/;
/** The case of an API without a list, and of one without a cancel: no call is made. */
const NO_LIST: readonly (readonly [string, ListCase])[] = [
  ['nothing, without a call, from an API without a list', { name: 'no list', since: 0, answers: [], requests: [] }],
];
const NO_CANCEL: readonly (readonly [string, CancelCase])[] = [
  ['an API without a cancel, without a call', { name: 'no cancel', answers: [], requests: [], confirmed: false }],
];
const PHASES: readonly Phase[] = ['queued', 'running', 'succeeded', 'failed', 'unrecognised'];

/** The guarantees of every adapter: exact requests, an outcome for every answer, and no exception. */
export function channelContract({
  name,
  adapter,
  fixtures,
  upstreamId: polledId = UPSTREAM_ID,
  lacksPhases = [],
}: AdapterSubject): void {
  const { header, scheme } = adapter.credential;
  const credential = { [header]: scheme === undefined ? API_KEY : `${scheme} ${API_KEY}` };
  const factory = channelFactory(adapter);
  const calls = adapter.openCalls({ options: {} });
  const cases = <C extends Case>(file: string): (readonly [string, C])[] =>
    (JSON.parse(readFileSync(path.join(fixtures, `${file}.json`), 'utf8')) as C[]).map((one) => [one.name, one]);
  const [[, { attempt }] = missing('an attempt among its fixtures')] = cases<SubmitRequestCase>('submit-requests');
  const opened: Channel[] = [];
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await openScriptedUpstream();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((channel) => channel.close()));
  });
  afterAll(() => upstream.close());

  const signal = (): AbortSignal => new AbortController().signal;
  const open = (changes: Partial<ChannelSettings> = {}, clock: Clock = systemClock): Channel => {
    const channel = factory(
      channelSettings({
        adapter: name,
        baseUrl: upstream.url + PREFIX,
        apiKey: new Secret(API_KEY),
        submitTimeoutMs: PATIENT_MS,
        pollTimeoutMs: PATIENT_MS,
        hosts: Object.fromEntries(Object.keys(adapter.hosts ?? {}).map((host) => [host, upstream.url + PREFIX])),
        ...changes,
      }),
      clock,
    );
    opened.push(channel);
    return channel;
  };
  /**
   * The outcome of a call that the upstream reads and never answers, after its deadline. An adapter may know it without
   * a call.
   */
  const unanswered = async <T>(call: (channel: Channel) => Promise<T>): Promise<T> => {
    upstream.script('hang');
    const clock = fakeClock();
    let over = false;
    const outcome = call(open({ submitTimeoutMs: LONG_MS, pollTimeoutMs: LONG_MS }, clock)).finally(() => {
      over = true;
    });
    await until(() => over || upstream.requests.length === 1);
    await clock.advance(LONG_MS);
    return outcome;
  };
  const made = (): RequestMade[] =>
    upstream.requests.map(({ method, path: asked, body }) => ({
      method,
      path: asked,
      ...(body === undefined ? {} : { body }),
    }));
  const prefixed = (requests: readonly RequestMade[]): RequestMade[] =>
    requests.map((request) => ({ ...request, path: PREFIX + request.path }));

  describe('submit', () => {
    test.each(cases<SubmitRequestCase>('submit-requests'))(
      'sends %s once, in exactly the format of the upstream',
      async (_name, { attempt: one, request, contentType = 'application/json' }) => {
        upstream.script({ status: 200, json: {} });

        await open().submit(one, signal());

        expect(made()).toEqual(prefixed([request]));
        expect(upstream.requests[0]?.headers).toMatchObject({
          ...credential,
          'content-type': expect.stringContaining(contentType),
        });
      },
    );

    test('does not change the attempt', async () => {
      upstream.script({ status: 200, json: {} });

      expect(await open().submit(deepFrozen(structuredClone(attempt)), signal())).toMatchObject({ outcome: 'unknown' });
      expect(upstream.requests).toHaveLength(1);
    });

    test.each(cases<SubmitAnswerCase>('submit-answers'))('understands %s', async (_name, { answer, submission }) => {
      upstream.script(answer);

      const { status, ...outcome } = await open().submit(attempt, signal());

      expect(outcome).toEqual(
        'error' in submission ? { ...submission, error: expect.stringContaining(submission.error) } : submission,
      );
      expect(status).toBe(typeof answer === 'string' ? undefined : answer.status);
      expect(upstream.requests).toHaveLength(1);
    });

    test('is the fault of the channel when no server listens, because nothing was sent', async () => {
      expect(await open({ baseUrl: NOWHERE }).submit(attempt, signal())).toMatchObject({
        outcome: 'refused',
        fault: 'channel',
      });
    });

    test('is the fault of the channel when the host name is unknown', async () => {
      expect(await open({ baseUrl: 'http://upstream.invalid' }).submit(attempt, signal())).toMatchObject({
        outcome: 'refused',
        fault: 'channel',
      });
    });

    test.each<ScriptedAnswer>(['reset', 'cut', 'endless'])(
      'is an unknown outcome after %s, because the upstream has read it',
      async (answer) => {
        upstream.script(answer);

        expect(await open().submit(attempt, signal())).toMatchObject({ outcome: 'unknown' });
        expect(upstream.requests).toHaveLength(1);
      },
    );

    test('is an unknown outcome without an answer in time', async () => {
      expect(await unanswered((channel) => channel.submit(attempt, signal()))).toMatchObject({ outcome: 'unknown' });
      expect(upstream.requests).toHaveLength(1);
    });

    test('is an unknown outcome when it is aborted', async () => {
      upstream.script('hang');
      const leaving = new AbortController();

      const submission = open().submit(attempt, leaving.signal);
      await until(() => upstream.requests.length === 1);
      leaving.abort();

      expect(await submission).toMatchObject({ outcome: 'unknown' });
    });
  });

  /** The form of a fixture: our address as `{base}`, a credential as it prints. */
  const asRecorded = (seen: PollResult): unknown =>
    JSON.parse(JSON.stringify(seen).replaceAll(upstream.url + PREFIX, '{base}'));

  describe('poll', () => {
    test.each(cases<PollCase>('polls'))('understands %s', async (_name, one) => {
      const { request, requests = request === undefined ? undefined : [request], polled } = one;
      upstream.script(...listAnswers(one));

      const seen = await open().poll(polledId, signal());

      expect(asRecorded(seen)).toEqual(
        polled.found ? polled : { ...polled, error: expect.stringContaining(polled.error) },
      );
      for (const { headers } of upstream.requests) expect(headers).toMatchObject(credential);
      if (requests === undefined) expect(upstream.requests).toMatchObject([{ method: 'GET', body: undefined }]);
      else expect(made()).toEqual(prefixed(requests));
    });

    test('has a recorded case for each phase that the upstream has', () => {
      const recorded = cases<PollCase>('polls').flatMap(([, { polled }]) =>
        polled.found ? [polled.report.phase] : [],
      );

      expect(PHASES.filter((phase) => !recorded.includes(phase))).toEqual(lacksPhases);
    });

    test('encodes the id so that the URL cannot point elsewhere', async () => {
      upstream.script({ status: 200, json: {} });

      const id = '../../admin?x=1#y';
      await open().poll(id, signal());

      const [{ path: asked, body } = missing('one request for each poll')] = upstream.requests;
      if (body === undefined) expect(asked).toMatch(/%2F.*admin%3Fx%3D1%23y($|[/?&])/);
      else
        expect([asked, JSON.stringify(body)]).toEqual([
          expect.not.stringContaining('admin'),
          expect.stringContaining(id),
        ]);
    });

    test.each<ScriptedAnswer>(['reset', 'cut', 'endless'])(
      'reports nothing about the work after %s',
      async (answer) => {
        upstream.script(answer);

        expect(await open().poll(polledId, signal())).toMatchObject({ found: false, gone: false });
      },
    );

    test('reports nothing about the work without an answer in time, or when no server listens', async () => {
      expect(await unanswered((channel) => channel.poll(polledId, signal()))).toMatchObject({
        found: false,
        gone: false,
      });
      expect(await open({ baseUrl: NOWHERE }).poll(polledId, signal())).toMatchObject({ found: false, gone: false });
    });
  });

  if (calls.pollMany !== undefined)
    describe('a poll of several works', () => {
      test.each(cases<PollManyCase>('polls-many'))('understands %s', async (_name, { upstreamIds, ...one }) => {
        upstream.script(...one.answers);

        const polled = await open().pollMany(upstreamIds, signal());

        expect(Object.keys(one.polled)).toEqual(upstreamIds);
        for (const [id, expected] of Object.entries(one.polled))
          expect(asRecorded(polled.get(id)!)).toEqual(
            expected.found ? expected : { ...expected, error: expect.stringContaining(expected.error) },
          );
        expect(made()).toEqual(prefixed(one.requests));
      });

      test('is declared with its bound', () => {
        expect(adapter.pollManyMax).toBeGreaterThan(1);
      });
    });

  if (calls.find !== undefined)
    describe('a search by key', () => {
      test.each(cases<FindCase>('finds'))('understands %s', async (_name, { lost, now, answers, requests, found }) => {
        upstream.script(...answers);

        expect(await open({}, fixedClock(now)).find(lost, signal())).toEqual(
          'why' in found ? { ...found, why: expect.stringContaining(found.why) } : found,
        );
        expect(made()).toEqual(prefixed(requests));
      });

      test.each<ScriptedAnswer>(['reset', 'cut', 'endless'])('cannot know after %s', async (answer) => {
        const [[, { lost }] = missing('a case in finds.json')] = cases<FindCase>('finds');
        upstream.script(answer);

        expect(await open().find(lost, signal())).toMatchObject({ outcome: 'cannot know' });
      });
    });

  describe('list', () => {
    const lists = cases<ListCase>('lists');
    test.each(lists.length > 0 ? lists : NO_LIST)('reads %s', async (_name, { since, answers, requests, works }) => {
      upstream.script(...answers);

      expect(await open().list(since, signal())).toEqual(works);
      expect(made()).toEqual(prefixed(requests));
    });

    test('gives up on an upstream with endless pages', async () => {
      const page = { status: 200, json: { items: [{ id: '1', created_at: 2_000_000_000 }], total: 1_000_000 } };
      upstream.script(...Array.from({ length: 200 }, () => page));

      expect(await open().list(0, signal())).toBeUndefined();
      expect(upstream.requests.length).toBeLessThan(100);
    });

    test('is unreadable when no server listens, or without an answer in time', async () => {
      expect(await unanswered((channel) => channel.list(0, signal()))).toBeUndefined();
      expect(await open({ baseUrl: NOWHERE }).list(0, signal())).toBeUndefined();
    });
  });

  describe('cancel', () => {
    const cancels = cases<CancelCase>('cancels');
    test.each(cancels.length > 0 ? cancels : NO_CANCEL)(
      'understands %s',
      async (_name, { answers, requests, confirmed }) => {
        upstream.script(...answers);

        expect(await open().cancel(polledId, signal())).toBe(confirmed);
        expect(made()).toEqual(prefixed(requests));
      },
    );

    test('is not confirmed when no server listens, or without an answer in time', async () => {
      expect(await unanswered((channel) => channel.cancel(polledId, signal()))).toBe(false);
      expect(await open({ baseUrl: NOWHERE }).cancel(polledId, signal())).toBe(false);
    });
  });

  describe('test', () => {
    test.each(cases<TestCase>('tests'))('understands %s', async (_name, { answer, request, tested }) => {
      upstream.script(answer);

      expect(await open().test(signal())).toEqual(tested);
      expect(made()).toEqual(prefixed([request]));
    });

    test('fails when no server listens', async () => {
      expect(await open({ baseUrl: NOWHERE }).test(signal())).toMatchObject({
        ok: false,
        detail: expect.stringMatching(/./),
      });
    });
  });

  test('no JSON and no status of an upstream makes the adapter throw or reveal the key', async () => {
    const channel = open();
    const answers = fc.record({
      status: fc.constantFrom(200, 201, 400, 404, 409, 429, 500, 502),
      json: answersLike(cases<PollCase>('polls').flatMap(([, one]) => listAnswers(one))),
    });
    await fc.assert(
      fc.asyncProperty(answers, async (answer) => {
        upstream.script(...Array.from({ length: 100 }, () => answer));

        const said = [
          await channel.submit(attempt, signal()),
          await channel.poll(polledId, signal()),
          await channel.list(0, signal()),
          await channel.cancel(polledId, signal()),
          await channel.test(signal()),
        ];

        expect(JSON.stringify(said)).not.toMatch(REDACTED);
      }),
      { numRuns: 60 },
    );
  });
}

function listAnswers({ answer, answers = answer === undefined ? [] : [answer] }: PollCase): readonly ScriptedAnswer[] {
  return answers;
}

/** The system clock, at another time of day: its waits are real. */
function fixedClock(now: number): Clock {
  return { ...systemClock, now: () => now };
}

/** Any JSON, and mutations of real answers of this upstream. */
function answersLike(known: readonly ScriptedAnswer[]): fc.Arbitrary<unknown> {
  const bodies = known.flatMap((answer) =>
    typeof answer === 'object' && answer.json !== undefined ? [JSON.stringify(answer.json)] : [],
  );
  const mutated = fc.tuple(fc.constantFrom(...bodies), fc.nat(), fc.jsonValue()).map(([body, at, value]) => {
    const keys: string[] = body.match(/"[a-z_]+":/g) ?? ['""'];
    const key = keys[at % keys.length]!;
    return JSON.parse(body, (name, old: unknown) => (`"${name}":` === key ? value : old)) as unknown;
  });
  return fc.oneof(fc.jsonValue(), mutated);
}

function missing(what: string): never {
  throw new Error(`an adapter needs ${what}`);
}
