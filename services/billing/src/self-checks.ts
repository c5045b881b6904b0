import type { Clock } from '@reelgate/platform/clock';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import type { RollingCheck } from './operations/check-ledger.ts';

const MINUTE_MS = 60_000;

/** Says what the rolling check of the ledger knows, which costs nothing however large the ledger is. */
export function ledgerSelfCheck({ findings }: Pick<RollingCheck, 'findings'>, clock: Pick<Clock, 'now'>): SelfCheck {
  return {
    part: 'rolling check',
    check: async () => {
      const { faults, endedAt } = findings();
      const round =
        endedAt === undefined
          ? 'its first round has not ended'
          : `its last round ended ${Math.floor(Math.max(0, clock.now() - endedAt) / MINUTE_MS)} minutes ago`;
      if (faults === 0) return ok(`found no event of the ledger that does not balance; ${round}`);
      return {
        grade: 'fail',
        detail: `found events of the ledger that do not balance: ${faults}; ${round}`,
        advice: 'stop every replica of billing, keep its database as it is; reelgate ledger verify names the events',
      };
    },
  };
}
