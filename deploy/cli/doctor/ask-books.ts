import { isProblem } from '@reelgate/platform/problem';
import type { VerifyLedgerResponse } from '@reelgate/proto/billing/v1/account_service';
import { formatNanos } from '../format/quantities.ts';
import { compareHolds } from '../verify-books.ts';
import type { BookServices } from '../connect-services.ts';
import { awaitAnswer, inSeconds } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import type { DoctorLine, Report } from './doctor-line.ts';

const FAULTS_SHOWN_MAX = 5;
const VERIFY = 'reelgate ledger verify';

/** Reports whether the ledger balances, and whether each open hold belongs to an open task. */
export async function askBooks(services: BookServices, deadline: Deadline, report: Report): Promise<void> {
  const ledger = await awaitAnswer<VerifyLedgerResponse | DoctorLine>(
    deadline,
    (signal) =>
      services.accounts
        .verifyLedger({ diagnosis: true }, { timeoutMs: deadline.callMs(), signal })
        .catch((error: unknown) => {
          if (!isProblem(error, 'service_unavailable')) throw error;
          return describeUnchecked('was not checked: billing is not reached', `then ${VERIFY}`);
        }),
    (waitedMs) =>
      describeUnchecked(`was not checked within ${inSeconds(waitedMs)}`, `a large ledger takes longer: ${VERIFY}`),
  );
  if (!('entries' in ledger)) {
    report(ledger);
    return;
  }
  report(describeBalance(ledger), ...describeWaits([[Number(ledger.overdueCalls), ...OVERDUE_CALLS]]));
  await askHolds(services, ledger.openHoldTaskIds, deadline, report);
}

async function askHolds(
  services: BookServices,
  taskIds: readonly string[],
  deadline: Deadline,
  report: Report,
): Promise<void> {
  const holds = await awaitAnswer(
    deadline,
    (signal) =>
      compareHolds(services, taskIds, { signal }).catch((error: unknown) => {
        if (!isProblem(error, 'service_unavailable')) throw error;
        return undefined;
      }),
    () => undefined,
  );
  if (holds === undefined) {
    report({
      ...{ subject: 'ledger', part: 'holds', grade: 'warn' },
      detail: `open holds were not compared with their tasks: ${taskIds.length}`,
      advice: `see the lines of tasks; then ${VERIFY}`,
    });
    return;
  }
  const { finished, unknown } = holds;
  report(
    ...describeWaits([
      [
        finished.length,
        'holds belong to tasks that have ended',
        'billing settles them within minutes; else reelgate task show ID',
      ],
      [unknown.length, 'holds belong to no task', `they are released by the sweep of tasks; else ${VERIFY} names them`],
    ]),
  );
}

type Wait = readonly [count: number, what: string, advice: string];

const OVERDUE_CALLS = [
  'relayed calls are not settled in time',
  'they lapse and are charged their hold; look for gateways that were killed',
] as const;

function describeUnchecked(detail: string, next: string): DoctorLine {
  return { subject: 'ledger', part: '', grade: 'warn', detail, advice: `see the lines of billing; ${next}` };
}

function describeBalance({ ok, tooLarge, entries, sums, faults }: VerifyLedgerResponse): DoctorLine {
  const line = { subject: 'ledger', part: '' };
  // The rolling check of billing reads such a ledger page by page, and has a line of its own.
  if (tooLarge)
    return {
      ...line,
      grade: 'ok',
      detail: `has more than ${entries} entries or calls, too many for this command; see the rolling check of billing`,
      advice: `${VERIFY} reads them all, and an embedded database is blocked meanwhile`,
    };
  if (ok) return { ...line, grade: 'ok', detail: `${entries} entries balance`, advice: '' };
  const wrong = [...Object.entries(sums).map(([currency, sum]) => `${currency} ${formatNanos(sum)}`), ...faults];
  return {
    ...line,
    grade: 'fail',
    detail: `does not balance: ${wrong.slice(0, FAULTS_SHOWN_MAX).join('; ')}`,
    advice: `stop billing's writers, keep the databases as they are; ${VERIFY}`,
  };
}

function describeWaits(waits: readonly Wait[]): readonly DoctorLine[] {
  return waits.flatMap(([count, what, advice]): DoctorLine[] =>
    count === 0 ? [] : [{ subject: 'ledger', part: 'holds', grade: 'warn', detail: `${count} ${what}`, advice }],
  );
}
