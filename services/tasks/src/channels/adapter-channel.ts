import type { JsonWebKey } from 'node:crypto';
import type {
  Attempt,
  FindOutcome,
  Report as AdapterReport,
  PollResult as AdapterPollResult,
  Submission as AdapterSubmission,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import { readList, readObject } from '@reelgate/adapter-kit/kit';
import { SMALL_JSON } from '@reelgate/platform/bounded-json';
import type { Clock } from '@reelgate/platform/clock';
import { readContentRefusal, readSizeRefusal } from '@reelgate/platform/content-refusal';
import { CALL_KINDS } from '@reelgate/platform/limits/asked-waits';
import type { CallKind } from '@reelgate/platform/limits/asked-waits';
import { judgeProbe } from '@reelgate/platform/limits/probe-suspects';
import type { ProbeVerdict } from '@reelgate/platform/limits/probe-suspects';
import { ASKED_WAIT_MS_MAX, readAskedWaitMs, readRetryAfterMs } from '@reelgate/platform/limits/read-asked-wait';
import { Secret } from '@reelgate/platform/secret';
import type { Report } from '../domain/report.ts';
import { KEYS_HOST, listHosts } from './channel-adapter.ts';
import { checkSignature, isEd25519Key } from './callback-signature.ts';
import type { SignatureFacts } from './callback-signature.ts';
import type { ChannelAdapter, ChannelCalls, EventualSteps } from './channel-adapter.ts';
import { ENDPOINT_OF } from './channel.ts';
import type {
  AskToWait,
  Channel,
  ChannelFactory,
  ChannelSettings,
  ExtraOrder,
  PlannedAttempt,
  PollResult,
  Submission,
} from './channel.ts';
import { listChoices, listFreeFields, readExtraFields } from './extra-fields.ts';
import type { ExtraFault } from './extra-fields.ts';
import { parseAnswer } from './answer-collector.ts';
import type { OpenPool, UpstreamHttp, UpstreamResult } from './upstream-http.ts';
import type { WholeAnswer } from './answer-collector.ts';
import { upstreamHttp } from './upstream-http.ts';

/** The public keys of an upstream are read again after this time; if they could not be read, after the second one. */
const KEYS_KEPT_MS = 3_600_000;
const KEYS_RETRY_MS = 60_000;
const KEYS_TIMEOUT_MS = 5000;
const KEYS_MAX = 32;
/** Requests of one operation, including the pages of a list. */
const STEPS_MAX = 30;
/** An upstream that limits one kind of call serves the other; one that is overloaded serves neither. */
const OVERLOADED_FROM = 500;
const BASE = '';
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** The faults of a refusal that blame the channel. */
const BLAMED: ReadonlySet<string> = new Set(['channel', 'credential']);

/** Returns the factory of an adapter's channels. `openPool` opens their connections. */
export function channelFactory(adapter: ChannelAdapter, openPool?: OpenPool): ChannelFactory {
  return (settings, clock, askToWait = () => undefined) =>
    newAdapterChannel(adapter, settings, { clock, openPool, askToWait });
}

/** The factories of all adapters, by the same names. */
export function channelFactories(
  adapters: Readonly<Record<string, ChannelAdapter>>,
  openPool?: OpenPool,
): Readonly<Record<string, ChannelFactory>> {
  return Object.fromEntries(
    Object.entries(adapters).map(([name, adapter]) => [name, channelFactory(adapter, openPool)]),
  );
}

/** The connections of a channel and the operations of its adapter. */
interface ChannelConnections {
  readonly adapter: ChannelAdapter;
  readonly calls: ChannelCalls;
  readonly settings: ChannelSettings;
  readonly clock: Clock;
  /** By the names of `Adapter.hosts`; the host of `base_url` has an empty name. */
  readonly hosts: ReadonlyMap<string, UpstreamHttp>;
  readonly askToWait: AskToWait;
}

/**
 * Opens a channel of an adapter: makes the calls that the adapter describes. What must hold for every adapter is added
 * here, so no adapter can leave it out:
 * - An order of a kind that the upstream does not know is refused without asking the upstream.
 * - A submission is one request. Nothing follows it, whatever its answer.
 * - Of the client's own JSON only the declared extra fields are passed on, as checked values. An order with a field that
 *   the upstream does not take is refused without asking it.
 * - The key goes to the declared hosts only, and the adapter never sees it.
 * - An adapter that throws has the outcome of a call without an answer.
 * - The wait that an answer asks for is told to the channel, whatever the operation.
 */
function newAdapterChannel(
  adapter: ChannelAdapter,
  settings: ChannelSettings,
  {
    clock,
    openPool,
    askToWait,
  }: { readonly clock: Clock; readonly openPool: OpenPool | undefined; readonly askToWait: AskToWait },
): Channel {
  const calls = adapter.openCalls({ options: settings.options });
  const addresses = { ...listHosts(adapter), ...settings.hosts, [BASE]: settings.baseUrl };
  const hosts = new Map(
    Object.entries(addresses).map(([name, baseUrl]) => [
      name,
      upstreamHttp({ baseUrl, clock, openPool }, () => ({
        accept: 'application/json',
        ...(name === KEYS_HOST ? {} : { ...adapter.headers, ...readKey(adapter, settings) }),
      })),
    ]),
  );
  const connected: ChannelConnections = { adapter, calls, settings, clock, hosts, askToWait };
  const { pollMany, find, list, cancel } = calls;
  const poll = async (upstreamId: string, signal: AbortSignal): Promise<PollResult> =>
    toPollResult(connected, await runPoll(connected, calls.poll(upstreamId), signal));
  return {
    settings,
    findExtraFaults: (order) => findExtraFaults(connected, order),
    listChoices: ({ extraJson }) => listChoices(extraJson, adapter.extraFields ?? {}),
    submit: (attempt, signal) => submit(connected, attempt, signal),
    poll,
    pollManyMax: pollMany === undefined ? 1 : (adapter.pollManyMax ?? 1),
    pollMany: async (upstreamIds, signal) => {
      if (pollMany === undefined) return pollEach(upstreamIds, poll, signal);
      const results = await runSteps(connected, pollMany(upstreamIds), signal);
      return new Map(upstreamIds.map((id) => [id, toPollResult(connected, readManyResult(results, id))] as const));
    },
    canFind: find !== undefined,
    findSettlesAfterMs: find === undefined ? Infinity : (adapter.visibleAfterMs ?? Infinity),
    find: async (lost, signal) => {
      if (find === undefined) return { outcome: 'cannot know', why: 'the upstream cannot be asked' };
      const found = await runSteps<FindOutcome>(connected, find(toAttempt(adapter, lost)), signal);
      if ('lost' in found) return { outcome: 'cannot know', why: found.lost };
      return found.result.outcome === 'never arrived' && !isVisibleBy(connected, lost.endedAt)
        ? { outcome: 'cannot know', why: 'the upstream may not know the attempt yet' }
        : found.result;
    },
    readCallback: callbackReader(connected),
    canList: list !== undefined,
    list: async (since, signal) => {
      const listed = list === undefined ? undefined : await runSteps(connected, list(since), signal);
      return listed === undefined || 'lost' in listed ? undefined : listed.result;
    },
    cancel: async (upstreamId, signal) => {
      const ended = cancel === undefined ? undefined : await runSteps(connected, cancel(upstreamId), signal);
      return ended !== undefined && 'result' in ended && ended.result;
    },
    test: async (signal) => {
      const tested = await runSteps(connected, calls.test(), signal);
      return 'lost' in tested ? { ok: false, detail: tested.lost } : tested.result;
    },
    probe: (signal) => probe(connected, signal),
    close: async () => {
      await Promise.all([...hosts.values()].map((http) => http.close()));
    },
  };
}

/** Reads the callbacks of an upstream: checks their signature, and finds the id of the work. */
function callbackReader(connected: ChannelConnections): Channel['readCallback'] {
  const { adapter, settings, clock } = connected;
  const { signature, readId } = adapter.callbacks ?? {};
  const readKeys = keySetReader(connected);
  return async (callback, model) => {
    const facts = { secret: settings.callbackSecret, now: clock.now(), readKeys };
    const verdict = await checkSignature(signature, callback, facts);
    return { signature: verdict, upstreamId: (await readHint(readId, callback.body, model)) ?? callback.upstreamId };
  };
}

/** An adapter that fails here has found no id. */
async function readHint(
  readId: NonNullable<ChannelAdapter['callbacks']>['readId'] | undefined,
  body: Uint8Array,
  model: string | undefined,
): Promise<string | undefined> {
  try {
    return await readId?.(readObject(parseAnswer(UTF8.decode(body), SMALL_JSON)), model);
  } catch {
    return undefined;
  }
}

/**
 * Reads the public keys of the upstream, and keeps them for a while. Callbacks at the same time share one call, which
 * the key of the channel is not sent with.
 */
function keySetReader({ adapter, clock, hosts }: ChannelConnections): SignatureFacts['readKeys'] {
  const { signature } = adapter.callbacks ?? {};
  if (signature?.form !== 'ed25519') return async () => undefined;
  const { pathname } = new URL(signature.keys);
  let keys: readonly JsonWebKey[] | undefined;
  let reading: Promise<void> | undefined;
  let dueAt = -Infinity;
  const read = async (): Promise<void> => {
    const request = { method: 'GET', path: pathname } as const;
    const result = await hosts.get(KEYS_HOST)?.call(request, KEYS_TIMEOUT_MS, new AbortController().signal);
    const listed = result?.kind === 'answer' ? readList(readObject(result.body)['keys']).slice(0, KEYS_MAX) : [];
    const usable = listed.filter(isEd25519Key);
    if (usable.length > 0) keys = usable;
    dueAt = clock.now() + (usable.length > 0 ? KEYS_KEPT_MS : KEYS_RETRY_MS);
    reading = undefined;
  };
  return async () => {
    if (clock.now() >= dueAt) await (reading ??= read());
    return keys;
  };
}

function readKey({ credential }: ChannelAdapter, { apiKey }: ChannelSettings): Readonly<Record<string, string>> {
  const { header, scheme } = credential;
  return { [header]: scheme === undefined ? apiKey.reveal() : `${scheme} ${apiKey.reveal()}` };
}

async function submit(
  connected: ChannelConnections,
  planned: PlannedAttempt,
  signal: AbortSignal,
): Promise<Submission> {
  const { adapter, calls, settings } = connected;
  if (!adapter.endpoints.includes(ENDPOINT_OF[planned.kind]))
    return { outcome: 'refused', fault: 'unfit', error: `the adapter ${settings.adapter} has no ${planned.kind}` };
  const [left] = findExtraFaults(connected, planned);
  if (left !== undefined)
    return { outcome: 'refused', fault: 'unfit', error: `the field ${left.field} does not reach this upstream` };
  const attempt = toAttempt(adapter, planned);
  const request = await buildSafely(calls, attempt);
  if ('error' in request) return { outcome: 'refused', fault: 'channel', error: request.error };
  if ('unfit' in request) return { outcome: 'refused', fault: 'unfit', error: request.unfit };
  const result = await call(connected, request, settings.submitTimeoutMs, signal);
  if (result.kind === 'unsent') return { outcome: 'refused', fault: 'channel', error: result.error };
  if (result.kind === 'unreachable')
    return { outcome: 'refused', fault: 'channel', error: result.error, isUnreachable: true };
  if (result.kind === 'lost') return { outcome: 'unknown', error: result.error };
  const { status } = result;
  try {
    const submission = readContent(result, await calls.readSubmit(toAnswer(connected, result), attempt));
    const isThrottle = submission.outcome === 'refused' && submission.fault === 'throttle';
    const waitMs = obeyAnswer(connected, result, { kind: 'work', isThrottle });
    const asked = submission.outcome === 'refused' && waitMs > 0 ? { retryAfterMs: waitMs } : {};
    return { ...submission, ...asked, status };
  } catch (error) {
    return { outcome: 'unknown', error: String(error), status };
  }
}

/**
 * Upstreams also refuse content with statuses that blame their channel or the credential, and the size of one order
 * with the status of a limit. An error that an adapter does not recognise is read as for every upstream.
 */
function readContent({ status, body }: WholeAnswer, submission: AdapterSubmission): AdapterSubmission {
  if (submission.outcome !== 'refused') return submission;
  const { fault, error } = submission;
  if (fault === 'throttle' && readSizeRefusal(status, body) !== undefined)
    return { outcome: 'refused', fault: 'order', error };
  if (!BLAMED.has(fault)) return submission;
  if (readContentRefusal(status, body) === undefined) return submission;
  return { outcome: 'refused', fault: 'content', error };
}

/** An attempt as the adapter gets it: with the checked values of the extra fields that it declares. */
export function toAttempt<T extends { readonly extraJson?: string | undefined }>(
  { extraFields = {} }: ChannelAdapter,
  { extraJson, ...rest }: T,
) {
  return { ...rest, extra: readExtraFields(extraJson, extraFields).values };
}

function findExtraFaults(
  { adapter: { extraFields = {} }, calls, settings }: ChannelConnections,
  order: ExtraOrder,
): readonly ExtraFault[] {
  if (order.extraJson === undefined) return [];
  const taken = calls.listExtra?.(order) ?? Object.keys(extraFields);
  const allowed = settings.extraFields ?? listFreeFields(extraFields);
  return readExtraFields(
    order.extraJson,
    extraFields,
    taken.filter((name) => allowed.includes(name)),
  ).faults;
}

/** An adapter that fails here has not sent a request. */
async function buildSafely(
  calls: ChannelCalls,
  attempt: Attempt,
): Promise<Awaited<ReturnType<ChannelCalls['buildSubmit']>> | { readonly error: string }> {
  try {
    return await calls.buildSubmit(attempt);
  } catch (error) {
    return { error: String(error) };
  }
}

/** Judges by the last call of the check, whatever the adapter reads from its answer. */
async function probe(connected: ChannelConnections, signal: AbortSignal): Promise<ProbeVerdict> {
  let last: UpstreamResult | undefined;
  await runSteps(connected, connected.calls.test(), signal, (result) => {
    last = result;
  });
  if (last === undefined || last.kind === 'unsent') return 'unclear';
  return last.kind === 'answer' ? judgeProbe(last.status) : 'down';
}

type StepsResult<T> = { readonly result: T } | { readonly lost: string };

/** Makes the calls of an operation until its end; `lost` if a call had no whole answer, or the adapter failed. */
async function runSteps<T>(
  connected: ChannelConnections,
  steps: EventualSteps<T>,
  signal: AbortSignal,
  onResult?: (result: UpstreamResult) => void,
): Promise<StepsResult<T>> {
  try {
    let step = await steps.next();
    for (let made = 0; step.done !== true; made += 1) {
      if (made >= STEPS_MAX) return { lost: `the operation makes more than ${STEPS_MAX} calls` };
      const result = await call(connected, step.value, connected.settings.pollTimeoutMs, signal);
      onResult?.(result);
      if (result.kind !== 'answer') return { lost: result.error };
      obeyAnswer(connected, result, { kind: 'reads' });
      step = await steps.next(toAnswer(connected, result));
    }
    return { result: step.value };
  } catch (error) {
    return { lost: String(error) };
  }
}

async function call(
  { hosts }: ChannelConnections,
  request: UpstreamRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<UpstreamResult> {
  const http = hosts.get(request.host ?? BASE);
  if (http === undefined) return { kind: 'unsent', error: `the adapter names no host ${request.host}` };
  return http.call(request, timeoutMs, signal);
}

/**
 * Passes the wait that an answer requests to the channel. Returns it in milliseconds, or 0 if there is no such wait.
 */
function obeyAnswer(
  { clock, askToWait }: ChannelConnections,
  answer: Extract<UpstreamResult, { kind: 'answer' }>,
  { kind, isThrottle = false }: { readonly kind: CallKind; readonly isThrottle?: boolean },
): number {
  const waitMs = readAskedWaitMs(answer, clock.now(), isThrottle);
  if (waitMs > 0) askToWait(answer.status >= OVERLOADED_FROM ? CALL_KINDS : [kind], waitMs);
  return waitMs;
}

function toAnswer(
  { adapter: { answerHeaders = [] }, clock }: ChannelConnections,
  { status, body, headers }: Extract<UpstreamResult, { kind: 'answer' }>,
): UpstreamAnswer {
  const retryAfterMs = readRetryAfterMs(headers, { now: clock.now(), mostMs: ASKED_WAIT_MS_MAX }) || undefined;
  const named = answerHeaders.flatMap((name) => {
    const value = headers[name.toLowerCase()];
    return value === undefined ? [] : [[name.toLowerCase(), String(value)] as const];
  });
  return { status, body, retryAfterMs, headers: Object.fromEntries(named) };
}

async function runPoll(
  connected: ChannelConnections,
  steps: EventualSteps<AdapterPollResult>,
  signal: AbortSignal,
): Promise<AdapterPollResult> {
  const polled = await runSteps(connected, steps, signal);
  return 'lost' in polled ? { found: false, gone: false, error: polled.lost } : polled.result;
}

function readManyResult(
  results: StepsResult<Readonly<Record<string, AdapterPollResult>>>,
  id: string,
): AdapterPollResult {
  if ('lost' in results) return { found: false, gone: false, error: results.lost };
  return (
    (Object.hasOwn(results.result, id) ? results.result[id] : undefined) ?? {
      found: false,
      gone: true,
      error: 'the upstream does not list this work',
    }
  );
}

async function pollEach(
  upstreamIds: readonly string[],
  poll: Channel['poll'],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PollResult>> {
  return new Map(await Promise.all(upstreamIds.map(async (id) => [id, await poll(id, signal)] as const)));
}

function toPollResult(connected: ChannelConnections, polled: AdapterPollResult): PollResult {
  return polled.found ? { found: true, report: toReport(connected, polled.report) } : polled;
}

/** Completes the address of a result, and adds the key only if the address is at the host of `base_url`. */
function toReport({ adapter, settings }: ChannelConnections, report: AdapterReport): Report {
  if (report.phase !== 'succeeded') return report;
  const { url, needsKey = false, ...rest } = report;
  if (url === undefined) return rest;
  const base = settings.baseUrl.replace(/\/$/, '');
  const address = url.startsWith('/') ? base + url : url;
  if (!needsKey || !isSameOrigin(address, base)) return { ...rest, url: address };
  const [[header, value] = ['', '']] = Object.entries(readKey(adapter, settings));
  return { ...rest, url: address, credential: { header, value: new Secret(value) } };
}

function isSameOrigin(address: string, base: string): boolean {
  return URL.canParse(address) && new URL(address).origin === new URL(base).origin;
}

/** Reports whether the upstream knows by now each attempt that was abandoned at that time. */
function isVisibleBy({ adapter, clock }: ChannelConnections, endedAt: number): boolean {
  return clock.now() - endedAt >= (adapter.visibleAfterMs ?? Infinity);
}
