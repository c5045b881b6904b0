import type { Clock } from '@reelgate/platform/clock';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { NEW_ROUND } from '../store/ledger/ledger-audit.ts';
import type { CheckLedgerPage } from '../store/ledger/ledger-audit.ts';

const MINUTE_MS = 60_000;

export interface LedgerCheckDeps {
  readonly checkPage: CheckLedgerPage;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** The state of the check so far. */
export interface LedgerFindings {
  /** The events with lines that do not balance, in this round and in the last one. */
  readonly faults: number;
  /** The end of the last round, in milliseconds since 1970; undefined before the first. */
  readonly endedAt: number | undefined;
}

export interface RollingCheck {
  /** Checks the next page. */
  readonly pass: () => Promise<number>;
  readonly findings: () => LedgerFindings;
}

/**
 * A check of the ledger in small pages, one at each pass, that starts again at its end. A pass costs the same for a
 * ledger of any size. The events of the newest tasks are part of every pass.
 */
export function ledgerCheck({ checkPage, metrics, clock, log }: LedgerCheckDeps): RollingCheck {
  const imbalance = metrics.gauge(
    'reelgate_ledger_imbalance',
    'Events whose ledger lines do not sum to zero, found by the last round of the check or by this one, ' +
      'over the whole database: aggregate with max',
  );
  const checkedAt = metrics.gauge(
    'reelgate_ledger_checked_timestamp_seconds',
    'When a round of the check of the ledger last ended, in seconds since 1970; 0 if none has',
  );
  let round = NEW_ROUND;
  let lastRound = 0;
  let reported = 0;
  let findings: LedgerFindings = { faults: 0, endedAt: undefined };
  const pass = async (): Promise<number> => {
    const checked = await checkPage(round);
    const faults = Math.max(checked.newestFaults, checked.round.faults, lastRound);
    if (checked.isLast) {
      lastRound = checked.round.faults;
      checkedAt.labels().set(clock.now() / 1000);
    }
    findings = { faults, endedAt: checked.isLast ? clock.now() : findings.endedAt };
    round = checked.isLast ? NEW_ROUND : checked.round;
    imbalance.labels().set(faults);
    if (faults > reported) log.error({ events: faults }, 'the lines of events in the ledger do not sum to zero');
    reported = faults;
    return 0;
  };
  return { pass, findings: () => findings };
}

/** Reports the state of the rolling check of the ledger, at no cost however large the ledger is. */
export function ledgerSelfCheck(findings: RollingCheck['findings'], clock: Clock): SelfCheck {
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
