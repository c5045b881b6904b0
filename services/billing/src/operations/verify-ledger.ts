import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { ACT_PREFIX } from '../domain/act.ts';
import type { Audit, LedgerAudit, LedgerChecks } from '../store/ledger/ledger-audit.ts';

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
    {
      id: newId(ACT_PREFIX),
      at: clock.now(),
      actor,
      action: 'ledger_verified',
      subject: LEDGER,
      reason: '',
      detail: { ok: isOk, entries: String(entries), took_ms: tookMs },
    },
  );
}
