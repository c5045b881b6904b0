import { pipeline } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { OpenUnpacker } from '@reelgate/platform/http/content-codings';
import { TooLarge } from '../../blobs/incoming.ts';
import type { Draft, IncomingFolder, ReceivedFile } from '../../blobs/incoming.ts';
import type { JsonPointer } from '../../domain/json-pointer.ts';
import { formatBytes } from '../../domain/media-rules.ts';
import type { AddressPolicy } from '../addresses/address-policy.ts';
import { newBase64JsonReader } from '../base64-json/read-base64-json.ts';
import type { Base64JsonReader } from '../base64-json/read-base64-json.ts';
import { FetchFault, NOT_REACHED, networkFault } from '../../domain/fetch-fault.ts';
import { parseTarget } from '../addresses/fetch-target.ts';
import { newFetchConnections } from '../requests/fetch-connections.ts';
import type { FetchConnections } from '../requests/fetch-connections.ts';
import { IDLE_MS } from '../requests/kept-connections.ts';
import type { KeptConnections } from '../requests/kept-connections.ts';
import { requestFollowing } from '../requests/redirects.ts';
import type { Answer, Continuation, Credential } from '../requests/redirects.ts';
import type { TransferPermits } from '../permits/transfer-permits.ts';
import { watchTransfer } from './transfer-watch.ts';
import type { TransferLimits, TransferWatch } from './transfer-watch.ts';

const RESUMES_MAX = 3;

export interface GuardedFetchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly incoming: IncomingFolder;
  readonly policy: AddressPolicy;
  readonly dnsServers: readonly string[];
  readonly redirectsMax: number;
  readonly headerBytesMax: number;
  /** Reports whether an address leads to this service. Such an address is not fetched. */
  readonly isOwn: (url: URL) => boolean;
}

export interface FetchOrder {
  readonly url: string;
  /** Sent to the origin of the address only. */
  readonly credential?: Credential | undefined;
  /**
   * The place of the Base64 string that holds the file, undefined if the answer is the file. A transfer with a place is
   * not continued, because the origin writes the JSON anew for each request.
   */
  readonly base64At?: JsonPointer | undefined;
  readonly bytesMax: number;
  readonly limits: TransferLimits;
  /** Throws to refuse a declared type. */
  readonly acceptType: (declared: string | undefined) => void;
  /**
   * True for a result: a broken transfer continues where it stopped, provided that the origin supports ranges, and a
   * body that the origin compresses unasked is unpacked.
   */
  readonly resume: boolean;
  /** The wait for permits does not count as transfer time. Their signal ends the transfer. */
  readonly permits: TransferPermits;
  /**
   * The idle connections that it uses and adds to. Without them it shares no connection, and its permits count its
   * addresses.
   */
  readonly kept?: KeptConnections | undefined;
  /** Called before the fetch dials an address that only an exception permits. */
  readonly recordException?: (() => void) | undefined;
}

/**
 * Fetches an external address into a file of ours. It connects only to permitted addresses, every wait has a limit, the
 * request carries no data of ours, and the file has at most `bytesMax` bytes. It rejects with a FetchFault, or with an
 * error of our disk, and then leaves no file behind.
 */
export async function fetchGuarded(deps: GuardedFetchDeps, order: FetchOrder): Promise<ReceivedFile> {
  const url = parseTarget(order.url, deps.policy);
  const draft = await deps.incoming.begin(order.bytesMax);
  const broken: Error[] = [];
  const watch = watchTransfer(deps.clock, order.limits, () => connections.bytes());
  const connections = newConnections(deps, order, { watch, broke: (error) => void broken.push(error) });
  const { signal } = order.permits;
  const end = (): void => watch.stop(signal.reason);
  order.permits.measure(() => watch.speed());
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  let wasRead = false;
  try {
    await receive({ ...deps, ...order, connections, watch, broken }, order, { url, draft });
    wasRead = true;
    return await draft.finish();
  } catch (error) {
    await draft.discard();
    throw toFetchError(watch.signal.aborted ? watch.signal.reason : error);
  } finally {
    signal.removeEventListener('abort', end);
    const isKept = wasRead && !watch.signal.aborted;
    // first the requests, then their sockets
    watch.stop();
    connections.end(isKept);
  }
}

interface Transfer {
  readonly connections: FetchConnections;
  readonly watch: TransferWatch;
  /** The errors of its connections. */
  readonly broken: readonly Error[];
}

interface Target {
  readonly url: URL;
  readonly draft: Draft;
}

async function receive(
  deps: GuardedFetchDeps & Transfer & FetchOrder,
  order: FetchOrder,
  { url, draft }: Target,
): Promise<void> {
  let continuation: Continuation | undefined;
  for (let resumes = 0; ; resumes += 1) {
    const answer = await requestFollowing({ ...deps, unpacks: order.resume && resumes === 0 }, url, continuation);
    order.acceptType(answer.declaredType);
    if (order.base64At === undefined && draft.bytes + (answer.length ?? 0) > order.bytesMax)
      throw tooLarge(order.bytesMax);
    try {
      await takeBody(answer, draft, deps);
      return;
    } catch (error) {
      continuation = toContinuation(answer, draft, continuation);
      const mayGoOn =
        order.resume &&
        order.base64At === undefined &&
        resumes < RESUMES_MAX &&
        error instanceof FetchFault &&
        !deps.watch.signal.aborted;
      if (continuation === undefined || !mayGoOn) throw error;
      deps.log.info({ from: draft.bytes, err: error }, 'a transfer broke off and continues');
    }
  }
}

/** A reader sees a connection reset as the end of the body, unless the length is known. */
async function takeBody(
  answer: Answer,
  draft: Draft,
  { watch, broken, base64At }: Transfer & Pick<FetchOrder, 'base64At'>,
): Promise<void> {
  const brokenBefore = broken.length;
  let came = 0;
  const received = watchBody(answer, watch, (bytes) => (came += bytes));
  const body = answer.unpack === undefined ? received : unpackBody(received, answer.unpack);
  const reader = base64At === undefined ? undefined : newBase64JsonReader(base64At);
  await draft.append(reader === undefined ? body : decodeBody(body, reader));
  if (answer.length === undefined && broken.length > brokenBefore) throw networkFault(broken.at(-1));
  if (answer.length !== undefined && came !== answer.length)
    throw new FetchFault('network', NOT_REACHED, `${came} bytes came of ${answer.length}`);
  reader?.finish();
}

async function* decodeBody(body: AsyncIterable<Uint8Array>, reader: Base64JsonReader): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    const decoded = reader.take(chunk);
    if (decoded.length > 0) yield decoded;
  }
}

function toContinuation(answer: Answer, draft: Draft, before: Continuation | undefined): Continuation | undefined {
  const validator = before?.validator ?? answer.validator;
  return validator === undefined ? undefined : { from: draft.bytes, validator, whole: before?.whole ?? answer.whole };
}

async function* watchBody(
  answer: Answer,
  watch: TransferWatch,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  watch.enter('body');
  try {
    for await (const chunk of answer.body) {
      watch.received(chunk.byteLength);
      onBytes(chunk.byteLength);
      yield chunk;
    }
  } catch (error) {
    throw networkFault(error);
  }
}

/** A fetch uses no proxy, and no connection of another fetch except the kept ones that its order names. */
function newConnections(
  { clock, policy, dnsServers, headerBytesMax }: GuardedFetchDeps,
  { limits, permits, kept, recordException }: FetchOrder,
  { watch, broke }: { readonly watch: TransferWatch; readonly broke: (error: Error) => void },
): FetchConnections {
  return newFetchConnections({
    settings: { policy, dnsServers, headerBytesMax, idleMs: kept === undefined ? undefined : IDLE_MS },
    now: () => clock.now(),
    kept,
    user: {
      permits,
      broke,
      recordException,
      dnsMs: limits.stagesMs.resolve,
      signal: watch.signal,
      enter: (stage) => watch.enter(stage),
    },
  });
}

function tooLarge(bytesMax: number): FetchFault {
  return new FetchFault('too_large', `must have at most ${formatBytes(bytesMax)}`, `more than ${bytesMax} bytes`);
}

/** Errors of the network are FetchFaults here. Every other error is a fault of this service. */
function toFetchError(error: unknown): unknown {
  return error instanceof TooLarge ? tooLarge(error.bytesMax) : error;
}

/**
 * Unpacks the body of an answer that an origin compresses although the request asks for plain bytes. A body that is
 * truncated or malformed is a fault. The reader bounds the number of the bytes.
 */
async function* unpackBody(body: AsyncIterable<Uint8Array>, open: OpenUnpacker): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) throw newPackingFault();
  const unpacker = open(first.value[0] ?? 0);
  const packed = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  // an error reaches the reader of the unpacker
  pipeline(packed, unpacker, () => undefined);
  try {
    for await (const piece of unpacker as AsyncIterable<Uint8Array>) yield piece;
  } catch (error) {
    throw error instanceof FetchFault ? error : newPackingFault();
  }
}

function newPackingFault(): FetchFault {
  return new FetchFault('encoding', 'could not be fetched: the server compressed it, and it cannot be unpacked');
}
