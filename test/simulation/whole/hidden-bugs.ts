import { HIDDEN_OVERLAP_BUGS } from './overlap-bugs.ts';
import type { HiddenBug } from './plant-bug.ts';

const SQLITE = 'services/platform/src/sql/sqlite.ts';
const MOVES = 'services/tasks/src/store/tasks/sql-moves.ts';

/** The planted bugs that are not found, with what would find them. `--bug` takes their names too. */
export const HIDDEN_BUGS: Readonly<Record<string, HiddenBug>> = {
  'leases-are-taken-while-they-live': {
    fault: 'A worker leases a task although another one holds its lease.',
    edits: [
      {
        file: MOVES,
        text: `AND next_poll_at <= \${of('now')} AND (lease_until IS NULL OR lease_until <= \${of('now')})`,
        becomes: `AND next_poll_at <= \${of('now')}`,
      },
    ],
    missing:
      'a rule on two polls of one work at once: cancels, callbacks, cancelled batches and set clocks bring such polls too',
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
