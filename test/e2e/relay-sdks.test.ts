import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import { matchPath } from '../../services/gateway/src/http/routes/route.ts';
import { relayEndpoints } from '../../services/gateway/src/relay/endpoints.ts';
import { startRelayProgram } from '../harness/relay-program.ts';
import type { RelayProgram } from '../harness/relay-program.ts';
import { NEVER_SEEN, RELAY_KEYS, UPSTREAM_MODELS } from '../harness/relay-upstream/identities.ts';
import type { Received } from '../harness/relay-upstream/received.ts';
import { KEYS } from '../harness/test-config.ts';
import { sdkCalls } from './relay-calls/all-calls.ts';
import type { SdkCall, Target } from './relay-calls/sdk-call.ts';

const START_TIMEOUT_MS = 120_000;
const MODEL = 'solo';
/** Each call has marks of its own, all of one length. */
let marks = 100_000;

let relay: RelayProgram;
let direct: Target;
let gateway: Target;

beforeAll(async () => {
  relay = await startRelayProgram();
  direct = { base: `http://${relay.upstream.host}/main`, key: RELAY_KEYS['main']!, model: UPSTREAM_MODELS.main };
  gateway = { base: relay.program.base, key: KEYS.demo, model: MODEL };
}, START_TIMEOUT_MS);

afterAll(async () => {
  await relay?.end();
}, START_TIMEOUT_MS);

interface Made {
  readonly outcome: { readonly value: unknown } | { readonly error: unknown };
  readonly asked: readonly Received[];
  readonly mark: string;
}

async function make(target: Target, { run }: SdkCall, words = ''): Promise<Made> {
  marks += 1;
  const mark = String(marks);
  const outcome = await run(target, `a red boat [mark:${mark}]${words}`).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return { outcome, asked: relay.upstream.marked(mark), mark };
}

/** Resets the count of consecutive faults by a good answer, so that one test does not affect the next. */
async function makeAndMend(target: Target, call: SdkCall, words: string): Promise<Made> {
  const made = await make(target, call, words);
  await make(gateway, call);
  return made;
}

/** The paths that the SDKs call. */
const called = new Set<string>();
const isCalled = (route: string): boolean => [...called].some((path) => matchPath(route, path) !== undefined);

const publicly = (text: string): string => text.replaceAll(UPSTREAM_MODELS.main, MODEL);
/** The gateway signs the ids that an upstream keeps. */
const SIGNATURE = /_st_[\w-]{24}\b/g;
const withoutSignatures = (outcome: Made['outcome']): unknown =>
  JSON.parse(JSON.stringify(outcome).replaceAll(SIGNATURE, ''));

describe('an SDK sends and receives the same with and without the gateway', () => {
  test.each(sdkCalls.map((call) => [call.name, call] as const))('%s', async (_name, call) => {
    const [there, here] = [await make(direct, call), await make(gateway, call)];

    expect(withoutSignatures(here.outcome)).toEqual(JSON.parse(publicly(JSON.stringify(there.outcome))));
    expect(here.outcome).toHaveProperty('value');
    expect(here.asked).toHaveLength(1);
    expect(wire(here, call.asksUsage === true)).toEqual(wire(there, false));
    for (const { path } of there.asked) called.add(path);
  });

  test('every synchronous route is among the calls', () => {
    const uncalled = relayEndpoints.map(({ path }) => path).filter((path) => !isCalled(path));

    expect(uncalled).toEqual([]);
  });
});

/** The calls whose refusals each SDK reads in its own way. */
const REFUSED = [
  'openai chat.completions.create',
  'openai responses.create',
  'openai audio.speech.create',
  'openai images.edit',
  'anthropic messages.create',
  'google generateContent',
  'ai openai-compatible generateText',
  'ai openai generateText',
  'cohere rerank',
];
const isStream = ({ streams }: SdkCall): boolean => streams === true;
const refusable = sdkCalls.filter((call) => REFUSED.includes(call.name) || isStream(call));

describe("an SDK raises the upstream's refusal as without the gateway, and learns nothing of the upstream", () => {
  const rows = [400, 422, 429, 500, 529].flatMap((status) =>
    refusable.map((call) => [status, call.name, call] as const),
  );
  test.each(rows)('%d: %s', async (status, _name, call) => {
    const [there, here] = [
      await make(direct, call, `[status:${status}]`),
      await makeAndMend(gateway, call, `[status:${status}]`),
    ];

    expect(errorOf(here)).toMatchObject({ name: errorOf(there).name, status: errorOf(there).status });
    expect(errorOf(here).status).toBe(status);
    expect(leaks(here.outcome)).toEqual([]);
    expect(here.asked).toHaveLength(1);
  });
});

describe("a refused credential of a channel is not shown as the client's fault", () => {
  const rows = [401, 402, 403].flatMap((status) => refusable.map((call) => [status, call.name, call] as const));
  test.each(rows)('%d: %s', async (status, _name, call) => {
    const here = await makeAndMend(gateway, call, `[status:${status}]`);

    expect(errorOf(here).status).toBe(503);
    expect(leaks(here.outcome)).toEqual([]);
  });
});

describe('a broken stream is an error in the SDK, never a normal end', () => {
  const rows = ['[die:3]', '[fail:3]'].flatMap((words) =>
    sdkCalls.filter(isStream).map((call) => [words, call.name, call] as const),
  );
  test.each(rows)('%s: %s', async (words, _name, call) => {
    const here = await makeAndMend(gateway, call, words);

    expect(here.outcome).toHaveProperty('error');
    expect(inspect(here.outcome)).not.toMatch(/SyntaxError|terminated|Premature|ECONNRESET/);
    expect(leaks(here.outcome)).toEqual([]);
    expect(here.asked).toHaveLength(1);
  });
});

describe('a stream is the same however the upstream splits its frames', () => {
  const rows = ['[join]', '[crlf]', '[slow:300]', '[pace:5]'].flatMap((words) =>
    sdkCalls.filter(isStream).map((call) => [words, call.name, call] as const),
  );
  test.each(rows)('%s: %s', async (words, _name, call) => {
    const [there, here] = [await make(direct, call), await make(gateway, call, words)];

    expect(withoutSignatures(here.outcome)).toEqual(JSON.parse(publicly(JSON.stringify(there.outcome))));
  });
});

/**
 * Headers that every hop sets itself, two of which the gateway has its own, and one that Node's `fetch` adds as pages do.
 */
const HOP_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'keep-alive',
  'sec-fetch-mode',
]);
const BOUNDARY = /boundary=("?)([^";]+)\1/;
const ADDED = /"stream_options":\{"include_usage":true\},/;

/** The request on the wire without the parts that differ from call to call. */
function wire({ asked: [call], mark }: Made, withAdded: boolean): object {
  if (call === undefined) throw new Error('the upstream was not called');
  const boundary = BOUNDARY.exec(call.headers['content-type'] ?? '')?.[2];
  const alike = (text: string): string => {
    const marked = publicly(text)
      .replaceAll(mark, 'MARK')
      .replaceAll(boundary ?? '\0', 'BOUNDARY');
    return withAdded ? marked.replace(ADDED, '') : marked;
  };
  const headers = Object.entries(call.headers)
    .filter(([name]) => !HOP_HEADERS.has(name))
    .map(([name, value]) => [name, alike(String(value))]);
  const credential =
    call.headers.authorization?.replace('Bearer ', '') ?? call.headers['x-api-key'] ?? call.headers['x-goog-api-key'];
  return {
    method: call.method,
    path: alike(call.path),
    query: call.query,
    headers: Object.fromEntries(headers),
    credential,
    body: alike(call.body.toString('latin1')),
  };
}

function errorOf({ outcome }: Made): { readonly name: string; readonly status: number | undefined } {
  if (!('error' in outcome)) throw new Error(`no error, but ${inspect(outcome)}`);
  const error = outcome.error as {
    readonly constructor: { readonly name: string };
    readonly status?: number;
    readonly statusCode?: number;
  };
  return { name: error.constructor.name, status: error.status ?? error.statusCode };
}

/** All parts of an error that a caller can print. */
function leaks(outcome: unknown): readonly string[] {
  const shown = inspect(outcome, { depth: 12, showHidden: true, maxStringLength: null, maxArrayLength: null });
  return NEVER_SEEN.filter((secret) => shown.includes(secret));
}
