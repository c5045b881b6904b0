import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { maybeBegun, nothingBegun } from '@reelgate/platform/service-unavailable';
import { withDeadline } from '../clients/caller.ts';
import type { JobsClient } from '../clients/tasks-client.ts';
import type { PrivateStore } from '../clients/media-port.ts';
import type { Relay } from '../relay/relay.ts';
import { requireValue } from '../clients/wire-values.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';
import { BODY_KEEP_MS, isSmall } from './job-bytes.ts';
import type { JobBytes } from './job-bytes.ts';

/** A hold outlasts the longest wait of a job by this time, which covers the call itself and the queue after a crash. */
export const HOLD_SLACK_MS = 3 * 3_600_000;

const CREATOR = 'create';
/** Between two renewals while the bytes are stored; well below the shortest lease. */
const RENEW_MS = 300;

export interface CreateJobDeps {
  readonly jobs: JobsClient;
  readonly media: PrivateStore;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

export interface CreateJob {
  readonly call: RelayCall;
  /** The URL that is told when the job ends. */
  readonly webhookUrl?: string | undefined;
  readonly idempotency?: { readonly idempotencyKey: string; readonly requestFingerprint: string } | undefined;
}

/**
 * Queues a call, or refuses it as the call itself would be refused. First it writes the row, under a lease and with the
 * name of the bytes. Then it holds the money and stores the bytes. Only then can a worker make the call, so a refused
 * call stores no bytes. If the process dies on the way, a worker holds the money before it makes the call, or ends the
 * job if the bytes are missing.
 */
export async function createJob(
  deps: CreateJobDeps,
  { call, webhookUrl = '', idempotency }: CreateJob,
): Promise<{ readonly id: string; readonly replayed: boolean }> {
  const { endpoint, model, path, search, headers, label = '' } = call;
  const { accountId, tokenId } = call.principal;
  deps.relay.assertServed(call);
  const body: JobBytes = isSmall(call.body)
    ? { case: 'inline', value: call.body }
    : { case: 'object', value: deps.newId('prv') };
  const created = await deps.jobs.createJob(
    {
      accountId,
      tokenId,
      repeatable: endpoint.isRepeatable,
      worker: endpoint.isFree && body.case === 'inline' ? '' : CREATOR,
      webhookUrl,
      ...idempotency,
      call: {
        ...{ endpoint: endpoint.name, model, method: endpoint.method, path, body, label },
        query: search.replace(/^\?/, ''),
        headers: pairHeaders(headers),
      },
    },
    withDeadline(call),
  );
  const { replayed, lease, waitMs } = created;
  const { id } = requireValue(created.job);
  if (lease !== '') await finishCreate(deps, call, { lease: { jobId: id, lease }, waitMs: Number(waitMs), body });
  return { id, replayed };
}

/** Pairs a list in which names and values alternate. */
function pairHeaders(headers: readonly string[]): { readonly name: string; readonly value: string }[] {
  return Array.from({ length: Math.floor(headers.length / 2) }, (_, index) => ({
    name: headers[2 * index] ?? '',
    value: headers[2 * index + 1] ?? '',
  }));
}

interface JobCreation {
  readonly lease: { readonly jobId: string; readonly lease: string };
  readonly waitMs: number;
  readonly body: JobBytes;
}

async function finishCreate(deps: CreateJobDeps, call: RelayCall, { lease, waitMs, body }: JobCreation): Promise<void> {
  const { relay, jobs, clock, log } = deps;
  try {
    await relay.hold(call, { callId: lease.jobId, lapsesAt: clock.now() + waitMs + HOLD_SLACK_MS });
    if (body.case === 'object') await renewLeaseDuring(deps, lease, () => storeBody(deps, call, body.value));
  } catch (error) {
    // the hold may exist although the answer was lost
    if (!call.endpoint.isFree) relay.release(lease.jobId);
    // a job that cannot be withdrawn is held for and called by a worker
    await jobs.withdrawJob({ lease }, withDeadline({})).catch((failure: unknown) => {
      throw maybeBegun(failure);
    });
    throw nothingBegun(error);
  }
  // the job is complete; a lease that is not given back ends by itself
  await jobs
    .returnJob({ lease, untouched: true }, withDeadline({}))
    .catch((error: unknown) =>
      log.warn({ taskId: lease.jobId, err: error }, 'a job waits for the lease of its create to end'),
    );
}

/** Removes the bytes after a fault: media may have stored them although the answer was lost. */
async function storeBody(
  { media, log }: CreateJobDeps,
  { body, principal: { accountId } }: RelayCall,
  object: string,
): Promise<void> {
  try {
    await media.putPrivate(body, { accountId, keepMs: BODY_KEEP_MS, object });
  } catch (error) {
    await media
      .remove([object])
      .catch((failure: unknown) =>
        log.warn({ err: failure }, 'the bytes of a job could not be removed; they end with their time'),
      );
    throw error;
  }
}

/**
 * Renews the lease while `work` runs. A large upload can outlast a lease, and a worker would then end the job for
 * missing bytes.
 */
async function renewLeaseDuring(
  { jobs, clock }: CreateJobDeps,
  lease: JobCreation['lease'],
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const renewUntilOver = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(RENEW_MS, over.signal);
      if (over.signal.aborted) return;
      await jobs.renewJobLeases({ leases: [lease] }, withDeadline({})).catch(() => {
        // the next renewal may succeed
      });
    }
  };
  const renewed = renewUntilOver();
  try {
    await work();
  } finally {
    over.abort();
    await renewed;
  }
}
