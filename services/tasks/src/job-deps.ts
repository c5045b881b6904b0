import type { Bus } from '@reelgate/platform/bus/bus';
import type { Calls } from './clients/billing.ts';
import type { TasksConfig } from './config.ts';
import { announceEnded, announceQueued, announceAttention } from './events/announcements.ts';
import type { Deps } from './operations/deps.ts';
import type { JobCounts, JobDeps } from './operations/jobs/job-deps.ts';
import { notifyJobAttention } from './store/notify-attention.ts';

export interface JobParts {
  readonly jobs: Omit<JobDeps['jobs'], 'findKey'>;
  readonly bus: Bus;
  readonly config: TasksConfig;
  readonly calls: Calls;
}

/** Jobs share the keys, the decisions of people and the events with tasks. */
export function jobDeps(
  { store, media, clock, newId, log, tracing, webhookAllow, wake, count }: Deps & { readonly count: JobCounts },
  { jobs, bus, config, calls }: JobParts,
): JobDeps {
  const reportEnded = announceEnded(bus);
  return {
    jobs: { ...notifyJobAttention(jobs, announceAttention(bus)), findKey: (...which) => store.findKey(...which) },
    media,
    calls,
    attention: store,
    clock,
    newId,
    log,
    tracing,
    limits: config.jobs,
    webhookAllow,
    announceQueued: announceQueued(bus),
    announceEnded: (job) => {
      reportEnded(job);
      wake.events();
    },
    count,
  };
}
