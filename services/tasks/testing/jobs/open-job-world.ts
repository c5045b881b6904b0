import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openSql } from '@reelgate/platform/sql/open-sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { createJob } from '../../src/operations/jobs/create-job.ts';
import type { JobRequest } from '../../src/operations/jobs/create-job.ts';
import type { JobDeps, JobLimits } from '../../src/operations/jobs/job-deps.ts';
import { sqlJobs } from '../../src/store/jobs/sql-jobs.ts';
import { SHARDS_MAX } from '../../src/store/tasks/counter-shards.ts';
import { sqlTaskStore } from '../../src/store/tasks/sql-task-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { fakeMedia } from '../fake-media.ts';
import type { FakeMedia } from '../fake-media.ts';
import { newJournal, recorded } from '../journal.ts';
import type { Journal } from '../journal.ts';
import { recordedTracing } from '../recorded-tracing.ts';
import type { RecordedTracing } from '../recorded-tracing.ts';
import { aCall } from './new-jobs.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
export const LIMITS: JobLimits = {
  perToken: 20,
  total: 100,
  leaseMs: 20_000,
  deadlineMs: 3_600_000,
  retentionMs: 90 * 24 * 3_600_000,
};

/** The operations on jobs on a real SQLite store. */
export interface JobWorld {
  readonly deps: JobDeps;
  readonly tasks: TaskStore;
  readonly journal: Journal;
  readonly clock: FakeClock;
  readonly media: FakeMedia;
  readonly tracing: RecordedTracing;
  readonly announced: readonly string[];
  /** Owners and jobs whose end was announced. */
  readonly endings: readonly string[];
  readonly counted: readonly string[];
  /** The decisions on the money of calls. */
  readonly ended: readonly string[];
  create(changes?: Partial<JobRequest>): ReturnType<typeof createJob>;
  /** Another process on the same durable state. */
  restart(): Promise<JobWorld>;
}

/** Opens worlds that are closed and removed after the test. */
export function useJobWorlds(): (limits?: Partial<JobLimits>) => Promise<JobWorld> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return async (limits = {}) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-jobs-'));
    ends.push(async () => {
      rmSync(folder, { recursive: true });
    });
    const clock = fakeClock();
    const tracing = recordedTracing(() => clock.now());
    return openJobWorld({ folder, clock, tracing, media: fakeMedia() }, { ...LIMITS, ...limits }, (end) =>
      ends.push(end),
    );
  };
}

interface Outside {
  readonly folder: string;
  readonly clock: FakeClock;
  readonly media: FakeMedia;
  readonly tracing: RecordedTracing;
}

async function openJobWorld(
  outside: Outside,
  limits: JobLimits,
  atEnd: (end: () => Promise<void>) => void,
): Promise<JobWorld> {
  const { folder, clock, media, tracing } = outside;
  const sql = await openSql({ url: undefined, dataDir: folder, name: 'tasks', migrations: MIGRATIONS });
  const journal = newJournal();
  const newId = newIds(clock);
  const tasks = sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }), SHARDS_MAX);
  const announced: string[] = [];
  const endings: string[] = [];
  const counted: string[] = [];
  const ended: string[] = [];
  const deps: JobDeps = {
    jobs: recorded(
      'store',
      {
        ...sqlJobs(sql, newId, SHARDS_MAX),
        findKey: (...which: Parameters<TaskStore['findKey']>) => tasks.findKey(...which),
      },
      journal,
    ),
    media: recorded('media', media.port, journal),
    calls: {
      end: async (callId, how) => {
        ended.push(`${how} ${callId}`);
        return how;
      },
    },
    attention: tasks,
    clock,
    newId,
    log: silentLog,
    tracing,
    limits,
    webhookAllow: new Set(),
    announceQueued: (jobId) => void announced.push(jobId),
    announceEnded: ({ id, accountId }) => void endings.push(`${accountId} ${id}`),
    count: {
      jobEnded: (...words) => void counted.push(words.join(' ')),
      attention: (reason) => void counted.push(`attention ${reason}`),
    },
  };
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await sql.close();
    isOpen = false;
  };
  atEnd(close);
  return {
    deps,
    tasks,
    journal,
    clock,
    media,
    tracing,
    announced,
    endings,
    counted,
    ended,
    create: (changes = {}) =>
      createJob(deps, {
        accountId: 'acme',
        tokenId: 'token_1',
        makerIds: [],
        visibleModels: ['*'],
        requestId: 'req_1',
        call: aCall(),
        repeatable: false,
        leavesRoom: false,
        ...changes,
      }),
    restart: async () => {
      await close();
      return openJobWorld(outside, limits, atEnd);
    },
  };
}
