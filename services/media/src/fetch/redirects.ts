import type { Agent, Dispatcher } from 'undici';
import type { Secret } from '@reelgate/platform/secret';
import { URL_CHARACTERS_MAX } from '../domain/remote-url.ts';
import type { AddressPolicy } from './address-policy.ts';
import { FetchFault, NOT_REACHED, addressFault } from './fetch-fault.ts';
import { checkTarget } from './fetch-target.ts';
import type { TransferWatch } from './transfer-watch.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const OK = 200;
const PARTIAL = 206;
const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+)$/;
const USER_AGENT = 'reelgate-media/1';

export interface RequestDeps {
  readonly agent: Agent;
  readonly watch: TransferWatch;
  readonly policy: AddressPolicy;
  readonly redirectsMax: number;
  readonly isOwn: (url: URL) => boolean;
  /** Shown to the first address's own origin, and to no other that it redirects to. */
  readonly authorization?: Secret | undefined;
}

/** The rest of a transfer that broke off. */
export interface Continuation {
  readonly from: number;
  /** What the first answer called its bytes: others are not joined to them. */
  readonly validator: string;
}

export interface Answer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Of this body; undefined: not said. */
  readonly length: number | undefined;
  readonly declaredType: string | undefined;
  /** A strong ETag of an origin that takes ranges; undefined: it cannot be gone on with. */
  readonly validator: string | undefined;
}

/** Asks for an address, and by hand for those that it redirects to, each judged as the first. */
export async function requestFollowing(deps: RequestDeps, first: URL, continuation: Continuation | undefined): Promise<Answer> {
  let url = first;
  for (let redirects = 0; redirects <= deps.redirectsMax; redirects += 1) {
    checkTarget(url, deps.policy);
    deps.watch.enter('connect');
    const response = await ask(deps, url, { continuation, authorization: url.origin === first.origin ? deps.authorization : undefined });
    if (!REDIRECTS.has(response.statusCode)) return answerOf(response, continuation);
    response.body.destroy();
    url = targetOf(response, url);
    if (deps.isOwn(url)) throw addressFault(`${first.hostname} redirects to ourselves`);
  }
  throw new FetchFault('redirects', `could not be fetched: it redirects more than ${String(deps.redirectsMax)} times`);
}

interface Asked {
  readonly continuation: Continuation | undefined;
  readonly authorization: Secret | undefined;
}

/** Nothing of the client's goes along, and no encoding but the bytes themselves is asked for. */
async function ask({ agent, watch }: RequestDeps, url: URL, { continuation, authorization }: Asked): Promise<Dispatcher.ResponseData> {
  const credential = authorization === undefined ? {} : { authorization: authorization.reveal() };
  const range = continuation === undefined ? {} : { range: `bytes=${String(continuation.from)}-`, 'if-range': continuation.validator };
  const response = await agent.request({
    origin: url.origin, path: url.pathname + url.search, method: 'GET', signal: watch.signal,
    headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...range, ...credential },
  });
  // a body that nobody reads must not end the process when it breaks
  response.body.on('error', () => undefined);
  return response;
}

function targetOf(response: Dispatcher.ResponseData, from: URL): URL {
  const location = header(response, 'location');
  const url = location === undefined || location.length > URL_CHARACTERS_MAX ? null : URL.parse(location, from.href);
  if (url === null) throw new FetchFault('redirects', 'could not be fetched: it redirects to no valid address');
  return url;
}

function answerOf(response: Dispatcher.ResponseData, continuation: Continuation | undefined): Answer {
  const refuse = (fault: FetchFault): never => {
    response.body.destroy();
    throw fault;
  };
  if (continuation !== undefined && !continues(response, continuation)) refuse(new FetchFault('network', NOT_REACHED, 'the rest of a transfer that broke off was not given'));
  if (continuation === undefined && response.statusCode !== OK) refuse(new FetchFault('status', `could not be fetched: the server answered ${String(response.statusCode)} where ${String(OK)} is needed`));
  const encoding = header(response, 'content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') refuse(new FetchFault('encoding', 'could not be fetched: the server sends it compressed, though it was asked not to'));
  return { body: response.body, length: lengthOf(response), declaredType: header(response, 'content-type'), validator: validatorOf(response) };
}

/** Another version of the file is answered whole (200), since the range was asked for on the condition that it is the same. */
function continues(response: Dispatcher.ResponseData, { from }: Continuation): boolean {
  return response.statusCode === PARTIAL && Number(CONTENT_RANGE.exec(header(response, 'content-range') ?? '')?.[1]) === from;
}

function lengthOf(response: Dispatcher.ResponseData): number | undefined {
  const text = header(response, 'content-length');
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function validatorOf(response: Dispatcher.ResponseData): string | undefined {
  const etag = header(response, 'etag');
  return header(response, 'accept-ranges') !== 'none' && etag?.startsWith('"') === true ? etag : undefined;
}

/** The value of a header that must come once; twice is as bad as a wrong one. */
function header(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
