import type { Clock } from '@reelgate/platform/clock';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { NewId } from '@reelgate/platform/ids';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { NEW_ROUND } from '../store/ledger/ledger-audit.ts';
import type { CheckLedgerPage, Audit, LedgerAudit, LedgerChecks } from '../store/ledger/ledger-audit.ts';
import { newAct } from '../store/acts/act-store.ts';

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

const FAULTS_KEPT_MAX = 20;
/** The subject of an act over the whole ledger. */
const LEDGER = 'ledger';

export interface AuditDeps {
  readonly audit: LedgerAudit;
  readonly ledgerChecks: LedgerChecks;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
}

/**
 * Checks the whole ledger, and keeps the outcome with the name of the person who asked. If the database is full, the
 * outcome is not kept, but still returned.
 */
export async function verifyLedger(deps: AuditDeps, actor: string, signal: AbortSignal): Promise<Audit> {
  const { audit, clock, log } = deps;
  const at = clock.now();
  const found = await audit.audit(at, { signal, isDiagnosis: false });
  try {
    await keepOutcome(deps, found, { at, actor });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn({ actor, err: error }, 'the outcome of a check of the ledger could not be kept');
  }
  return found;
}

/** Checks the ledger unless it is too large for a diagnosis. The outcome is not kept. */
export function diagnoseLedger({ audit, clock }: AuditDeps, signal: AbortSignal): Promise<Audit> {
  return audit.audit(clock.now(), { signal, isDiagnosis: true });
}

async function keepOutcome(
  { ledgerChecks, clock, newId }: AuditDeps,
  found: Audit,
  { at, actor }: { readonly at: number; readonly actor: string },
): Promise<void> {
  const [tookMs, isOk] = [clock.now() - at, found.faults.length === 0];
  const { entries, faults } = found;
  await ledgerChecks.record(
    { id: newId('check'), at, tookMs, isOk, entries, faults: faults.slice(0, FAULTS_KEPT_MAX), actor },
    newAct(newId, {
      ...{ at: clock.now(), actor, action: 'ledger_verified', subject: LEDGER },
      detail: { ok: isOk, entries: String(entries), took_ms: tookMs },
    }),
  );
}
