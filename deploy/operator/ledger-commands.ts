import { formatNanos } from './amount.ts';
import { noIds } from './command.ts';
import type { Command } from './command.ts';
import type { Services } from './connect-services.ts';

const CLASSIFY_MAX = 1000;

export const ledgerCommands: Readonly<Record<string, Command>> = {
  'ledger verify': {
    usage: '',
    run: async (services, words) => {
      noIds(words);
      const { ok, entries, sums, faults, openHoldTaskIds, openCalls, overdueCalls } =
        await services.accounts.verifyLedger({});
      const { finished, unknown } = await classified(services, openHoldTaskIds);
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
  },
  'ledger rebuild': {
    usage: '',
    run: async ({ accounts }, words) => {
      noIds(words);
      const { accountIds, tokenIds } = await accounts.rebuildBalances({});
      return { answer: { accounts: accountIds, tokens: tokenIds } };
    },
  },
  'price list': {
    usage: '',
    run: async ({ accounts }, words) => {
      noIds(words);
      const { contracts } = await accounts.listPrices({});
      return {
        answer: contracts.map(({ key, version, current, termsJson, sinceMs }) => ({
          key,
          version,
          current,
          since: new Date(Number(sinceMs)).toISOString(),
          terms: JSON.parse(termsJson) as unknown,
        })),
      };
    },
  },
};

/** Which open holds belong to tasks that ended, and which to none. */
async function classified(
  { tasks }: Services,
  taskIds: readonly string[],
): Promise<{ finished: string[]; unknown: string[] }> {
  const sorted = { finished: [] as string[], unknown: [] as string[] };
  for (let from = 0; from < taskIds.length; from += CLASSIFY_MAX) {
    const { finished, unknown } = await tasks.classifyHolds({ taskIds: taskIds.slice(from, from + CLASSIFY_MAX) });
    sorted.finished.push(...finished);
    sorted.unknown.push(...unknown);
  }
  return sorted;
}
