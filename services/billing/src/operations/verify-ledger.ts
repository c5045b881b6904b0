import { ACT_PREFIX } from '../domain/act.ts';
import type { Audit } from '../store/ledger/ledger-audit.ts';
import type { BillingDeps } from './deps.ts';

const FAULTS_KEPT_MAX = 20;
/** The subject of an act over the whole ledger. */
const LEDGER = 'ledger';

/** Checks the whole ledger, and keeps the outcome with the name of who asked for it. */
export async function verifyLedger(
  { audit, ledgerChecks, clock, newId }: Pick<BillingDeps, 'audit' | 'ledgerChecks' | 'clock' | 'newId'>,
  actor: string,
): Promise<Audit> {
  const at = clock.now();
  const found = await audit.audit(at);
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
  return found;
}
