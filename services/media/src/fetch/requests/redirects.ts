import type { Dispatcher } from 'undici';
import type { TimeSource } from '@reelgate/platform/clock';
import { findUnpacker } from '@reelgate/platform/http/content-codings';
import type { OpenUnpacker } from '@reelgate/platform/http/content-codings';
import { readAskedWaitMs } from '@reelgate/platform/limits/read-asked-wait';
import type { Secret } from '@reelgate/platform/secret';
import { isList } from '../../domain/formats.ts';
import type { AddressPolicy } from '../addresses/address-policy.ts';
import { FetchFault, NOT_REACHED, addressFault } from '../../domain/fetch-fault.ts';
import { checkTarget } from '../addresses/fetch-target.ts';
import type { Requester } from './fetch-connections.ts';
import type { TransferPermits } from '../permits/transfer-permits.ts';
import type { TransferWatch } from '../transfers/transfer-watch.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const OK = 200;
const PARTIAL = 206;
const CONTENT_RANGE = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/;
/** The encodings that leave the bytes unchanged. */
const PLAIN = {
  'content-encoding': new Set(['', 'identity']),
  'transfer-encoding': new Set(['', 'identity', 'chunked']),
} as const;
const USER_AGENT = 'reelgate-media/1';

export interface RequestDeps {
  readonly connections: Requester;
  readonly watch: TransferWatch;
  readonly policy: AddressPolicy;
  readonly clock: TimeSource;
  readonly redirectsMax: number;
  readonly isOwn: (url: URL) => boolean;
  readonly permits: TransferPermits;
  /** True if a body that the origin compresses unasked is taken. */
  readonly unpacks: boolean;
  /** Sent to the origin of the first address only, not to the origins of redirects. */
  readonly credential?: Credential | undefined;
}

/** A header that opens an address. */
export interface Credential {
  /** In lower case. */
  readonly header: string;
  readonly value: Secret;
}

/** The rest of a broken transfer. */
export interface Continuation {
  readonly from: number;
  /** The ETag of the first answer. Bytes of another version are not joined to it. */
  readonly validator: string;
  /** The length that the first answer declared, undefined if it declared no length. */
  readonly whole: number | undefined;
}

export interface Answer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Unpacks the body, undefined if the body is not compressed. */
  readonly unpack: OpenUnpacker | undefined;
  /** The length of this body as it is sent, undefined if it is unknown. */
  readonly length: number | undefined;
  /** The length of the whole file. */
  readonly whole: number | undefined;
  readonly declaredType: string | undefined;
  /** A strong ETag of an origin that supports ranges, undefined if the transfer cannot be continued. */
  readonly validator: string | undefined;
}

/**
 * Requests an address and follows its redirects. Each address passes the same checks. A redirect to another origin ends
 * the use of the credential, even if a further redirect leads back: another origin chose that address.
 */
export async function requestFollowing(
  deps: RequestDeps,
  first: URL,
  continuation: Continuation | undefined,
): Promise<Answer> {
  let url = first;
  let { credential } = deps;
  for (let redirects = 0; redirects <= deps.redirectsMax; redirects += 1) {
    checkTarget(url, deps.policy);
    if (deps.isOwn(url)) throw addressFault(`${first.hostname} leads to this service`);
    deps.watch.enter('queue');
    await deps.permits.enterHost(url);
    deps.watch.enter('connect');
    if (url.origin !== first.origin) credential = undefined;
    const response = await ask(deps, url, { continuation, credential });
    if (!REDIRECTS.has(response.statusCode)) return readAnswer(response, continuation, deps);
    response.body.destroy();
    url = readRedirect(response, url, deps.policy.urlCharactersMax);
  }
  throw new FetchFault('redirects', `could not be fetched: it redirects more than ${deps.redirectsMax} times`);
}

interface RequestDetails {
  readonly continuation: Continuation | undefined;
  readonly credential: Credential | undefined;
}

/** The request carries no data of the client, and asks for unencoded bytes. */
async function ask(
  { connections }: RequestDeps,
  url: URL,
  { continuation, credential }: RequestDetails,
): Promise<Dispatcher.ResponseData> {
  const opens = credential === undefined ? {} : { [credential.header]: credential.value.reveal() };
  const range =
    continuation === undefined ? {} : { range: `bytes=${continuation.from}-`, 'if-range': continuation.validator };
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...range, ...opens };
  const response = await connections.get(url, headers);
  // an error of a body that is not read must not end the process
  response.body.on('error', () => undefined);
  return response;
}

function readRedirect(response: Dispatcher.ResponseData, from: URL, charactersMax: number): URL {
  const { location } = response.headers;
  const url = typeof location !== 'string' || location.length > charactersMax ? null : URL.parse(location, from.href);
  if (url === null) throw new FetchFault('redirects', 'could not be fetched: it redirects to an invalid address');
  return url;
}

function statusFault({ statusCode: status, headers }: Dispatcher.ResponseData, now: number): FetchFault {
  const said = `could not be fetched: the server answered ${status}; expected ${OK}`;
  return new FetchFault('status', said, said, readAskedWaitMs({ status, headers, body: undefined }, now));
}

function readAnswer(
  response: Dispatcher.ResponseData,
  continuation: Continuation | undefined,
  { clock, unpacks }: Pick<RequestDeps, 'clock' | 'unpacks'>,
): Answer {
  const refuse = (fault: FetchFault): never => {
    response.body.destroy();
    throw fault;
  };
  if (continuation === undefined && response.statusCode !== OK) refuse(statusFault(response, clock.now()));
  const twice = SINGLE.find((name) => Array.isArray(response.headers[name]));
  if (twice !== undefined) refuse(new FetchFault('network', NOT_REACHED, `the header ${twice} came twice`));
  const declaredType = header(response, 'content-type');
  if (isList(declaredType ?? ''))
    refuse(new FetchFault('network', NOT_REACHED, 'the header content-type names several types'));
  const isPacked = !isPlain(response, 'content-encoding');
  const unpack = isPacked && unpacks ? findUnpacker(header(response, 'content-encoding') ?? '') : undefined;
  if ((isPacked && unpack === undefined) || !isPlain(response, 'transfer-encoding'))
    refuse(
      new FetchFault(
        'encoding',
        'could not be fetched: the server compressed it although the request allows no compression',
      ),
    );
  const length = readLength(response);
  // the rest of a packed body cannot be asked for by the bytes of the file
  const validator = isPacked ? undefined : readValidator(response);
  const said = { body: response.body, unpack, declaredType, validator };
  if (continuation === undefined) return { ...said, length, whole: length };
  const rest = readRest(response, continuation);
  if (rest === undefined)
    return refuse(new FetchFault('network', NOT_REACHED, 'the origin did not send the rest of a broken transfer'));
  return { ...said, length: rest, whole: continuation.from + rest };
}

/** A repeated header of these is a contradiction. */
const SINGLE = ['content-length', 'content-type', 'content-encoding', 'transfer-encoding', 'content-range', 'etag'];

function isPlain(response: Dispatcher.ResponseData, name: keyof typeof PLAIN): boolean {
  return PLAIN[name].has((header(response, name) ?? '').trim().toLowerCase());
}

/**
 * The number of bytes that are left of the same file. The request has `If-Range`, so another version of the file comes
 * whole, with 200.
 */
function readRest(response: Dispatcher.ResponseData, { from, validator, whole }: Continuation): number | undefined {
  const [, first, last, total] = (CONTENT_RANGE.exec(header(response, 'content-range') ?? '') ?? []).map(Number);
  const rest = Number(total) - from;
  const isTheRest =
    response.statusCode === PARTIAL && first === from && Number(last) + 1 === total && total === (whole ?? total);
  const isTheSame = (header(response, 'etag') ?? validator) === validator && (readLength(response) ?? rest) === rest;
  return isTheRest && isTheSame ? rest : undefined;
}

function readLength(response: Dispatcher.ResponseData): number | undefined {
  const text = header(response, 'content-length');
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function readValidator(response: Dispatcher.ResponseData): string | undefined {
  const etag = header(response, 'etag');
  return header(response, 'accept-ranges') !== 'none' && etag?.startsWith('"') === true ? etag : undefined;
}

function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
