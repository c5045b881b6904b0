import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Jobs } from '../clients/jobs-client.ts';
import type { MediaPort } from '../clients/media-port.ts';
import type { FrozenCall } from '../relay/frozen-call.ts';
import type { Relay } from '../relay/relay.ts';
import { keepBytes } from './job-bytes.ts';
import { HOLD_SLACK_MS } from './job-hold.ts';

/** Longer than any job may wait; it goes sooner when the job has ended. */
const BODY_KEEP_MS = 8 * 24 * 3_600_000;
const CREATOR = 'create';

export interface CreateJobDeps {
  readonly jobs: Pick<Jobs, 'create' | 'withdraw' | 'giveBack'>;
  readonly media: Pick<MediaPort, 'putPrivate'>;
  readonly relay: Pick<Relay, 'assertServed' | 'hold' | 'release'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface CreateJob {
  readonly call: FrozenCall;
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
}

/**
 * Queues a call, or refuses it as the call itself would be. Its bytes are kept first, then its row, under a lease; then its money is
 * held, and only then it is anybody's to make. A death on the way leaves bytes that go with their time, or a job that a worker has paid
 * for before it makes it.
 */
export async function createJob(deps: CreateJobDeps, { call, idempotency }: CreateJob): Promise<{ readonly id: string; readonly replayed: boolean }> {
  const { endpoint, model, path, search, headers, principal: { accountId, tokenId, models }, requestId } = call;
  deps.relay.assertServed(call);
  const body = await keepBytes(deps.media, call.body, { accountId, keepMs: BODY_KEEP_MS });
  const { id, replayed, lease, waitMs } = await deps.jobs.create({
    accountId, tokenId, visibleModels: models, isRepeatable: endpoint.isFree, worker: endpoint.isFree ? undefined : CREATOR, idempotency,
    call: { endpoint: endpoint.name, model, method: endpoint.method, path, search, headers, body },
  }, requestId);
  if (lease !== undefined) await payFor(deps, call, { lease: { jobId: id, lease }, waitMs });
  return { id, replayed };
}

interface Created {
  readonly lease: { readonly jobId: string; readonly lease: string };
  readonly waitMs: number;
}

async function payFor({ relay, jobs, clock, log }: CreateJobDeps, call: FrozenCall, { lease, waitMs }: Created): Promise<void> {
  try {
    await relay.hold(call, { callId: lease.jobId, lapsesAt: clock.now() + waitMs + HOLD_SLACK_MS });
  } catch (error) {
    // Billing may have held it all the same.
    relay.release(lease.jobId);
    await jobs.withdraw(lease);
    throw error;
  }
  // The job is there and paid for; a lease that is not given up ends by itself.
  await jobs.giveBack(lease, { untouched: true, delayMs: 0 }).catch((error: unknown) => {
    log.warn({ taskId: lease.jobId, err: error }, 'a job waits for the lease of its create to end');
  });
}
