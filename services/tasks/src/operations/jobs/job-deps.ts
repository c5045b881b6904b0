import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { Calls } from '../../clients/billing.ts';
import type { PrivateMediaRemover } from '../../clients/media.ts';
import type { JobIdentity } from '../../domain/job.ts';
import type { JobRetentionStore, JobStore } from '../../store/job-store.ts';
import type { AttentionStore, HistoryReader, KeyReader } from '../../store/task-store.ts';

/** The dependencies of the operations on jobs. */
export interface JobDeps {
  readonly jobs: JobStore & JobRetentionStore & KeyReader;
  readonly media: PrivateMediaRemover;
  readonly calls: Calls;
  /** The questions for a person, and their history. */
  readonly attention: AttentionStore & HistoryReader;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly tracing: Tracing;
  readonly limits: JobLimits;
  /** Receivers as `host:port` that need neither https nor a public host. */
  readonly webhookAllow: ReadonlySet<string>;
  /** Wakes workers because a job is queued. */
  readonly announceQueued: (jobId: string) => void;
  /** Notifies waiting clients that a job has ended. */
  readonly announceEnded: (job: JobIdentity) => void;
  readonly count: JobCounts;
}

export interface JobLimits {
  readonly perToken: number;
  readonly total: number;
  /** A worker that is silent for this long is gone. */
  readonly leaseMs: number;
  /** A job that has not started after this time is ended by the next worker that leases it. */
  readonly deadlineMs: number;
  /** The time in milliseconds for which ended jobs and their answers are kept. */
  readonly retentionMs: number;
}

export interface JobCounts {
  readonly jobEnded: (endpoint: string, outcome: string) => void;
  readonly attention: (reason: string) => void;
}
