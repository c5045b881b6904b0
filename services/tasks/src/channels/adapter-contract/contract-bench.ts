import assert from 'node:assert/strict';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { channelFactory } from '../adapter-channel.ts';
import type { ChannelCalls } from '../channel-adapter.ts';
import type { Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { readCases, readSuiteFacts, takeFirst } from './contract-case.ts';
import type { AdapterSubject, ContractCase, Phase, RequestMade, SubmitRequestCase } from './contract-case.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './scripted-upstream.ts';

export const API_KEY = 'sk-upstream-0123456789';
export const NOWHERE = 'http://127.0.0.1:1';
/** The faults of a connection after the upstream has read the request. */
export const BROKEN_ANSWERS: readonly Extract<ScriptedAnswer, string>[] = ['reset', 'cut', 'endless'];

const UPSTREAM_ID = '424010985738629';
const PREFIX = '/base/path';
/** Long enough for a loaded machine to answer. */
const PATIENT_MS = 10_000;

/** The facts of a subject that its cases share. */
export interface Contract {
  readonly subject: AdapterSubject;
  readonly calls: ChannelCalls;
  /** The attempt of the first case in `submit-requests`. */
  readonly attempt: PlannedAttempt;
  /** The id of the polled work. */
  readonly polledId: string;
  readonly lacksPhases: readonly Phase[];
}

/** The channels of one case against the upstream of the suite. */
export interface Bench {
  readonly upstream: ScriptedUpstream;
  readonly base: string;
  /** Opens a channel, which the end of the case closes. */
  readonly open: (changes?: Partial<ChannelSettings>, clock?: Clock) => Channel;
  /**
   * Returns the outcome of a call that the upstream reads and never answers, after its deadline. An adapter may know it
   * without a call.
   */
  readonly leaveUnanswered: <T>(call: (channel: Channel) => Promise<T>) => Promise<T>;
  /** Asserts the requests that the upstream has got, by their paths after `base_url`. */
  readonly assertMade: (requests: readonly RequestMade[]) => void;
  /** Asserts that each request had the key in its place, and returns the headers of the first. */
  readonly assertCredential: () => Readonly<Record<string, unknown>>;
}

export function readContract(subject: AdapterSubject): Contract {
  const { upstreamId = UPSTREAM_ID, lacksPhases = [] } = readSuiteFacts(subject);
  const submits = readCases<SubmitRequestCase>(subject, 'submit-requests');
  const { attempt } = takeFirst(submits, 'an attempt among its fixtures');
  return { subject, calls: subject.adapter.openCalls({ options: {} }), attempt, polledId: upstreamId, lacksPhases };
}

/** Returns a case that opens channels. */
export function benchCase(contract: Contract, name: string, check: (bench: Bench) => Promise<void>): ContractCase {
  return {
    name,
    run: async (upstream) => {
      const opened: Channel[] = [];
      try {
        await check(newBench(contract, upstream, opened));
      } finally {
        await Promise.all(opened.map((channel) => channel.close()));
      }
    },
  };
}

/** Returns a case that needs no channel, because it depends on values alone. */
export function pureCase(name: string, check: () => Promise<void> | void): ContractCase {
  return {
    name,
    run: async () => {
      await check();
    },
  };
}

export function newSignal(): AbortSignal {
  return new AbortController().signal;
}

function newBench({ subject }: Contract, upstream: ScriptedUpstream, opened: Channel[]): Bench {
  const { adapter } = subject;
  const { header, scheme } = adapter.credential;
  const base = upstream.url + PREFIX;
  const open: Bench['open'] = (changes = {}, clock = systemClock) => {
    const hosts = Object.fromEntries(Object.keys(adapter.hosts ?? {}).map((host) => [host, base]));
    // as of an operator who allows every field
    const extraFields = Object.keys(adapter.extraFields ?? {});
    const settings = { ...newSettings(subject.name, base), hosts, extraFields, ...changes };
    const channel = channelFactory(adapter)(settings, clock);
    opened.push(channel);
    return channel;
  };
  return {
    upstream,
    base,
    open,
    leaveUnanswered: async (call) => {
      upstream.script('hang');
      const { clock, end } = newDeadlineClock();
      const outcome = call(open({}, clock));
      await Promise.race([outcome, upstream.waitForRequest()]);
      end();
      return outcome;
    },
    assertMade: (requests) =>
      assertSame(
        upstream.requests.map(({ method, path: asked, body }) => ({ method, path: asked, body })),
        requests.map((request) => ({ ...request, path: PREFIX + request.path })),
      ),
    assertCredential: () => {
      for (const { headers } of upstream.requests)
        assert.equal(headers[header.toLowerCase()], scheme === undefined ? API_KEY : `${scheme} ${API_KEY}`);
      return upstream.requests[0]?.headers ?? {};
    },
  };
}

/** A clock with sleeps that end together, when the case says so. */
function newDeadlineClock(): { readonly clock: Clock; readonly end: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return {
    clock: { now: () => Date.UTC(2026, 0, 1), sleep: () => promise },
    end: () => resolve(undefined),
  };
}

function newSettings(adapter: string, baseUrl: string): ChannelSettings {
  return {
    id: 'main',
    adapter,
    baseUrl,
    apiKey: new Secret(API_KEY),
    upstreamAccount: 'vendor',
    endpoints: ['video.generation', 'video.regeneration', 'video.context_ir'],
    models: {},
    priority: 0,
    weight: 1,
    enabled: true,
    requestsPerMinute: 300,
    inFlightMax: 30,
    pollsPerMinute: 6000,
    submitTimeoutMs: PATIENT_MS,
    pollTimeoutMs: PATIENT_MS,
    reconcile: 'list',
    references: 'url',
    callbacks: false,
    hosts: {},
    options: {},
    regeneration: 'task',
  };
}

/** Asserts that two values have the same members. An undefined member counts as absent. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(dropUndefined(actual), dropUndefined(expected));
}

/** Asserts that a value has at least these members, at every depth. A list must have exactly its items. */
export function assertHolds(actual: unknown, expected: object): void {
  assertSame(selectMembers(actual, expected), expected);
}

function selectMembers(actual: unknown, expected: unknown): unknown {
  if (!isPlainObject(actual) || !isPlainObject(expected)) return actual;
  return Object.fromEntries(
    Object.entries(expected).flatMap(([key, inner]) =>
      Object.hasOwn(actual, key) ? [[key, selectMembers(actual[key], inner)]] : [],
    ),
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Asserts the same, where the text under a key only needs to hold the expected text. */
export function assertSameBut(key: string, actual: object, expected: object): void {
  const part = (expected as Readonly<Record<string, unknown>>)[key];
  if (typeof part !== 'string') {
    assertSame(actual, expected);
    return;
  }
  const text = String((actual as Readonly<Record<string, unknown>>)[key]);
  assert.ok(text.includes(part), `${key} is ${JSON.stringify(text)} and should hold ${JSON.stringify(part)}`);
  assertSame({ ...actual, [key]: part }, expected);
}

function dropUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropUndefined);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, dropUndefined(inner)]])),
  );
}
