import { defineCommand, noWords } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/amount.ts';
import { LEDGER_TIMEOUT_MS, whileShowing } from '../while-showing.ts';

const CLASSIFY_MAX = 1000;

export const ledgerVerify = defineCommand({
  summary: 'check that the ledger balances; exit code 1 if it does not',
  words: '',
  options: {},
  example: 'ledger verify --json',
  run: async ({ services, words, terminal }) => {
    noWords(words);
    const { ok, entries, sums, faults, openHoldTaskIds, openCalls, overdueCalls } = await whileShowing(
      terminal,
      'reading the ledger',
      () => services.accounts.verifyLedger({}, { timeoutMs: LEDGER_TIMEOUT_MS }),
    );
    const { finished, unknown } = await classified(services, openHoldTaskIds, (done) => {
      terminal.progress(`comparing open holds with tasks  ${String(done)} of ${String(openHoldTaskIds.length)}`);
    });
    terminal.clear();
    return {
      ok,
      answer: {
        ok,
        entries: Number(entries),
        sums: Object.fromEntries(Object.entries(sums).map(([currency, sum]) => [currency, formatNanos(sum)])),
        unsettled_terminal_tasks: finished,
        orphan_holds: unknown,
        open_calls: Number(openCalls),
        overdue_calls: Number(overdueCalls),
        ...(faults.length === 0 ? {} : { faults }),
      },
    };
  },
});

/** The open holds of tasks that ended, and the open holds without a task. */
async function classified(
  { tasks }: Services,
  taskIds: readonly string[],
  show: (done: number) => void,
): Promise<{ finished: string[]; unknown: string[] }> {
  const sorted = { finished: [] as string[], unknown: [] as string[] };
  for (let from = 0; from < taskIds.length; from += CLASSIFY_MAX) {
    show(from);
    const { finished, unknown } = await tasks.classifyHolds({ taskIds: taskIds.slice(from, from + CLASSIFY_MAX) });
    sorted.finished.push(...finished);
    sorted.unknown.push(...unknown);
  }
  return sorted;
}
