import { formatNanos } from '../format/amount.ts';
import { verifyBooks } from '../verify-books.ts';
import type { Services } from '../connect-services.ts';
import type { DoctorLine } from './doctor-line.ts';

/** A longer check is left to its own command. */
export const BOOKS_MS_MAX = 60_000;

/** Whether the ledger balances, and whether each open hold belongs to an open task. */
export async function askBooks(
  services: Pick<Services, 'accounts' | 'tasks'>,
  signal: AbortSignal,
): Promise<readonly DoctorLine[]> {
  const books = await verifyBooks(services, { timeoutMs: BOOKS_MS_MAX, signal });
  const sums = Object.entries(books.sums).map(([currency, sum]) => `${currency} ${formatNanos(sum)}`);
  const balance: DoctorLine = books.ok
    ? { subject: 'ledger', part: '', grade: 'ok', detail: `${String(books.entries)} entries balance`, advice: '' }
    : {
        subject: 'ledger',
        part: '',
        grade: 'fail',
        detail: `does not balance: ${[...sums, ...books.faults].slice(0, 5).join('; ')}`,
        advice: "stop billing's writers, keep the databases as they are; reelgate ledger verify",
      };
  const waits = [
    [
      books.finished.length,
      'holds belong to tasks that have ended',
      'billing settles them within minutes; else reelgate task show ID',
    ],
    [
      books.unknown.length,
      'holds belong to no task',
      'they are released by the sweep of tasks; else reelgate ledger verify names them',
    ],
    [
      Number(books.overdueCalls),
      'relayed calls are not settled in time',
      'they lapse and are charged their hold; look for gateways that were killed',
    ],
  ] as const;
  return [
    balance,
    ...waits.flatMap(([count, what, advice]): DoctorLine[] =>
      count === 0
        ? []
        : [{ subject: 'ledger', part: 'holds', grade: 'warn', detail: `${String(count)} ${what}`, advice }],
    ),
  ];
}
