import { HIDDEN_OVERLAP_BUGS } from './overlap-bugs.ts';
import type { HiddenBug } from './plant-bug.ts';

const SQLITE = 'services/platform/src/sql/sqlite.ts';
const MOVES = 'services/tasks/src/store/tasks/sql-moves.ts';
const APPLY_REPORT = 'services/tasks/src/operations/polls/apply-report.ts';

/** The planted bugs that are not found, with what would find them. `--bug` takes their names too. */
export const HIDDEN_BUGS: Readonly<Record<string, HiddenBug>> = {
  'unknown-states-are-waited-for': {
    fault: 'A person is never told of a state that no adapter knows.',
    edits: [
      {
        file: APPLY_REPORT,
        text: "await raiseAttention(\n      deps,\n      task,\n      'unknown_status',",
        becomes: "await Promise.resolve(\n      deps,\n      task,\n      'unknown_status',",
      },
    ],
    missing: 'work that stays in an unknown state: all of it goes on to an end',
  },
  'polls-revive-tasks': {
    fault: 'A poll that comes late writes over the end of its task.',
    edits: [
      {
        file: MOVES,
        text: `AND state = \${of('from')} AND \${UNFINISHED} AND next_poll_at IS NOT NULL RETURNING id`,
        becomes: `AND \${of('from')} <> '' RETURNING id`,
      },
    ],
    missing: 'more polls whose answer is on its way while a cancel ends their task: none of 26 seeds had one',
  },
  'leases-are-taken-while-they-live': {
    fault: 'A worker leases a task although another one holds its lease.',
    edits: [
      {
        file: MOVES,
        text: `AND next_poll_at <= \${of('now')} AND (lease_until IS NULL OR lease_until <= \${of('now')})`,
        becomes: `AND next_poll_at <= \${of('now')}`,
      },
    ],
    missing: 'a process that is slow for so long that another one polls its task, and a rule that sees both polls',
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
    missing: 'a call that lasts longer than the lease of its job',
  },
  'failed-syncs-are-ignored': {
    fault: 'A transaction succeeds although the sync of its log failed.',
    edits: [
      {
        file: SQLITE,
        text: 'await synced?.catch(throwUnsynced(true));',
        becomes: 'await synced?.catch(() => undefined);',
      },
    ],
    missing: 'a failed sync that loses the pages of its commits',
  },
  'live-processes-are-taken-for-dead': {
    fault: 'A process is taken for dead at once, so its creates are recovered while it makes them.',
    edits: [
      {
        file: 'services/tasks/src/workers/process-liveness.ts',
        text: 'const isDead = ({ misses }: OtherProcess): boolean => exclusive || misses >= MISSED_HEARTBEATS_MAX;',
        becomes: 'const isDead = ({ misses }) => exclusive || misses >= 0;',
      },
    ],
    missing: 'a recovery that meets a create between its attempt and its answer: none did in 25 seeds',
  },
  ...HIDDEN_OVERLAP_BUGS,
};
