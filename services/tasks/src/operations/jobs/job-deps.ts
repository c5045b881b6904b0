import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Calls } from '../../clients/calls.ts';
import type { Media } from '../../clients/media.ts';
import type { Job } from '../../domain/job.ts';
import type { JobRetentionStore, JobStore } from '../../store/job-store.ts';
import type { AttentionStore, CreateStore, ReadStore } from '../../store/task-store.ts';

/** What the operations on jobs work with. */
export interface JobDeps {
  readonly jobs: JobStore & JobRetentionStore & Pick<CreateStore, 'findKey'>;
  readonly media: Pick<Media, 'removePrivate'>;
  readonly calls: Calls;
  /** What waits for a person, and what was written down of it. */
  readonly attention: Pick<AttentionStore, 'waits' | 'resolve'> & Pick<ReadStore, 'events'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly limits: JobLimits;
  /** Tells workers that there is work. */
  readonly announceQueued: (jobId: string) => void;
  /** Tells those who wait for a job that it has ended. */
  readonly announceEnded: (job: Pick<Job, 'id' | 'accountId'>) => void;
  readonly count: JobCounts;
}

export interface JobLimits {
  readonly perToken: number;
  readonly total: number;
  /** A worker that has not been heard of for this long is gone. */
  readonly leaseMs: number;
  /** A job that could not be begun for this long is ended by the next worker that has it. */
  readonly deadlineMs: number;
  /** How long ended jobs are kept, and their answers with them. */
  readonly retentionMs: number;
}

export interface JobCounts {
  readonly jobEnded: (endpoint: string, outcome: string) => void;
  readonly attention: (reason: string) => void;
}
