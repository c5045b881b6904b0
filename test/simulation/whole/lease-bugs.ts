import type { FoundBug } from './plant-bug.ts';

/** Planted bugs in leases and in what they protect, which show while something takes long, or has no end. */
export const LEASE_BUGS: Readonly<Record<string, FoundBug>> = {
  'unknown-states-are-waited-for': {
    fault: 'A person is never told of a state that no adapter knows.',
    edits: [
      {
        file: 'services/tasks/src/operations/polls/apply-report.ts',
        text: "await raiseAttention(\n      deps,\n      task,\n      'unknown_status',",
        becomes: "await Promise.resolve(\n      deps,\n      task,\n      'unknown_status',",
      },
    ],
    first: 1006,
    seeds: 5,
    rules: ['every task ends and is settled, or waits for a person'],
  },
  'leases-are-not-renewed': {
    fault: 'The lease of a queued call is never renewed, and its worker is told that it was.',
    edits: [
      {
        file: 'services/tasks/src/operations/jobs/work-jobs.ts',
        text: 'const kept = await jobs.renewLeases(leases, now, now + limits.leaseMs);',
        becomes: 'const kept = new Set(leases.map(({ jobId }) => jobId));',
      },
    ],
    first: 1010,
    seeds: 1,
    rules: ['without faults no task waits for a person'],
  },
  'polls-revive-tasks': {
    fault: 'A poll that comes late writes over the end of its task.',
    edits: [
      {
        file: 'services/tasks/src/store/tasks/sql-moves.ts',
        text: `AND state = \${of('from')} AND \${UNFINISHED} AND next_poll_at IS NOT NULL RETURNING id`,
        becomes: `AND \${of('from')} <> '' RETURNING id`,
      },
    ],
    first: 1010,
    seeds: 1,
    rules: ['no state goes backwards'],
  },
};
