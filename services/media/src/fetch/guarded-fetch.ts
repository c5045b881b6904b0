import type { Socket } from 'node:net';
import { Agent } from 'undici';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Secret } from '@reelgate/platform/secret';
import { TooLarge } from '../blobs/incoming.ts';
import type { Draft, Incoming, ReceivedFile } from '../blobs/incoming.ts';
import { inBytes } from '../domain/media-rules.ts';
import type { AddressPolicy } from './address-policy.ts';
import { FetchFault, NOT_REACHED } from './fetch-fault.ts';
import { parseTarget } from './fetch-target.ts';
import { guardedConnector } from './guarded-connector.ts';
import { requestFollowing } from './redirects.ts';
import type { Answer, Continuation } from './redirects.ts';
import { watchTransfer } from './transfer-watch.ts';
import type { TransferLimits, TransferWatch } from './transfer-watch.ts';

const HEADER_BYTES_MAX = 16 * 1024;
const RESUMES_MAX = 3;

export interface GuardedFetchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly incoming: Incoming;
  readonly policy: AddressPolicy;
  readonly dnsServers: readonly string[];
  readonly redirectsMax: number;
  /** Whether an address leads to ourselves: no redirect may. */
  readonly isOwn: (url: URL) => boolean;
}

export interface FetchOrder {
  readonly url: string;
  /** For the address's own origin alone. */
  readonly authorization?: Secret | undefined;
  readonly bytesMax: number;
  readonly limits: TransferLimits;
  /** Refuses a declared type by throwing. */
  readonly acceptType: (declared: string | undefined) => void;
  /** Whether a transfer that breaks off may go on where it was, when the origin can do that. */
  readonly resume: boolean;
  /** Ends the transfer. */
  readonly signal: AbortSignal;
}

/**
 * Fetches one address that came from outside into a file of ours: no connection but to a permitted address, no wait without a limit,
 * nothing of ours sent along, no more bytes than the bound. Rejects with a FetchFault, and then leaves nothing behind.
 */
export async function guardedFetch(deps: GuardedFetchDeps, order: FetchOrder): Promise<ReceivedFile> {
  const url = parseTarget(order.url);
  const watch = watchTransfer(deps.clock, order.limits);
  const sockets = new Set<Socket>();
  const agent = openAgent(deps, order.limits, { watch, sockets });
  const draft = await deps.incoming.begin(order.bytesMax);
  const end = (): void => {
    watch.stop(new FetchFault('busy', 'could not be fetched now: the service is stopping; try again'));
  };
  order.signal.addEventListener('abort', end, { once: true });
  try {
    await receive({ ...deps, agent, watch }, order, { url, draft });
    return await draft.finish();
  } catch (error) {
    await draft.discard();
    throw faultOf(watch.signal.aborted ? watch.signal.reason : error);
  } finally {
    order.signal.removeEventListener('abort', end);
    watch.stop();
    for (const socket of sockets) socket.destroy();
    void agent.destroy();
  }
}

interface Transfer { readonly agent: Agent; readonly watch: TransferWatch }

interface Target { readonly url: URL; readonly draft: Draft }

async function receive(deps: GuardedFetchDeps & Transfer, order: FetchOrder, { url, draft }: Target): Promise<void> {
  let continuation: Continuation | undefined;
  for (let resumes = 0; ; resumes += 1) {
    const answer = await requestFollowing({ ...deps, authorization: order.authorization }, url, continuation);
    order.acceptType(answer.declaredType);
    if (draft.bytes + (answer.length ?? 0) > order.bytesMax) throw tooLarge(order.bytesMax);
    try {
      await takeBody(answer, draft, deps.watch);
      return;
    } catch (error) {
      continuation = continuationOf(answer, draft, continuation);
      const mayGoOn = order.resume && resumes < RESUMES_MAX && !(error instanceof TooLarge) && !deps.watch.signal.aborted;
      if (continuation === undefined || !mayGoOn) throw error;
      deps.log.info({ host: url.hostname, from: draft.bytes, err: error }, 'a transfer broke off and goes on');
    }
  }
}

async function takeBody(answer: Answer, draft: Draft, watch: TransferWatch): Promise<void> {
  const before = draft.bytes;
  await draft.append(watched(answer, watch));
  const came = draft.bytes - before;
  if (answer.length !== undefined && came !== answer.length) throw new FetchFault('network', NOT_REACHED, `${String(came)} bytes came of ${String(answer.length)}`);
}

function continuationOf(answer: Answer, draft: Draft, before: Continuation | undefined): Continuation | undefined {
  const validator = before?.validator ?? answer.validator;
  return validator === undefined ? undefined : { from: draft.bytes, validator };
}

async function* watched(answer: Answer, watch: TransferWatch): AsyncGenerator<Uint8Array> {
  watch.enter('body');
  for await (const chunk of answer.body) {
    watch.received(chunk.byteLength);
    yield chunk;
  }
}

/** An agent of its own for each fetch: no connection, proxy or credential is shared with anything. */
function openAgent({ policy, dnsServers }: GuardedFetchDeps, limits: TransferLimits, { watch, sockets }: { watch: TransferWatch; sockets: Set<Socket> }): Agent {
  return new Agent({
    connect: guardedConnector({
      policy, dnsServers, dnsMs: limits.stagesMs.resolve, signal: watch.signal,
      enter: (stage) => { watch.enter(stage); },
      opened: (socket) => { sockets.add(socket); },
    }),
    pipelining: 0, allowH2: false, maxHeaderSize: HEADER_BYTES_MAX, headersTimeout: 0, bodyTimeout: 0,
  });
}

function tooLarge(bytesMax: number, cause?: unknown): FetchFault {
  return new FetchFault('too_large', `must have at most ${inBytes(bytesMax)}`, `more than ${String(bytesMax)} bytes`, cause);
}

function faultOf(error: unknown): FetchFault {
  if (error instanceof FetchFault) return error;
  if (error instanceof TooLarge) return tooLarge(error.bytesMax, error);
  return new FetchFault('network', NOT_REACHED, error instanceof Error ? error.message : String(error), error);
}
