import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { NEW_ROUND } from '../store/ledger/ledger-check.ts';
import type { CheckLedgerPage } from '../store/ledger/ledger-check.ts';

export interface LedgerCheckDeps {
  readonly checkPage: CheckLedgerPage;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the check knows so far. */
export interface LedgerFindings {
  /** Events whose lines do not balance, in this round and in the last one. */
  readonly faults: number;
  /** When a round ended, in milliseconds since 1970; undefined: none has. */
  readonly endedAt: number | undefined;
}

export interface RollingCheck {
  /** Checks the next page. */
  readonly pass: () => Promise<number>;
  findings(): LedgerFindings;
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
