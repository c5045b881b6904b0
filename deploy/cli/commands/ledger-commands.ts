import { ACTOR_OPTION, readActor } from '../environment.ts';
import { assertNoWords, defineCommand } from '../command.ts';
import { formatNanos } from '../format/quantities.ts';
import { verifyBooks } from '../verify-books.ts';
import { LEDGER_TIMEOUT_MS, whileShowing } from '../while-showing.ts';

export const ledgerVerify = defineCommand({
  summary: 'check that the ledger balances; exit code 1 if it does not',
  words: '',
  options: { actor: ACTOR_OPTION },
  example: 'ledger verify --json',
  run: async ({ services, words, options, environment, terminal }) => {
    assertNoWords(words);
    let what = 'reading the ledger';
    const books = await whileShowing(
      terminal,
      () => what,
      () =>
        verifyBooks(services, {
          timeoutMs: LEDGER_TIMEOUT_MS,
          actor: readActor(options.actor, environment),
          onProgress: (done, of) => {
            what = `comparing open holds with tasks  ${done} of ${of}`;
          },
        }),
    );
    return {
      ok: books.ok,
      answer: {
        ok: books.ok,
        entries: Number(books.entries),
        sums: Object.fromEntries(Object.entries(books.sums).map(([currency, sum]) => [currency, formatNanos(sum)])),
        unsettled_terminal_tasks: books.finished,
        orphan_holds: books.unknown,
        open_calls: Number(books.openCalls),
        overdue_calls: Number(books.overdueCalls),
        ...(books.faults.length === 0 ? {} : { faults: books.faults }),
      },
    };
  },
});

export const ledgerRebuild = defineCommand({
  summary: 'recompute the cached sums of accounts and tokens, and list the wrong ones',
  words: '',
  options: {},
  example: 'ledger rebuild',
  run: async ({ services, words, terminal }) => {
    assertNoWords(words);
    const { accountIds, tokenIds } = await whileShowing(terminal, 'computing balances from the ledger', () =>
      services.accounts.rebuildBalances({}, { timeoutMs: LEDGER_TIMEOUT_MS }),
    );
    return { answer: { accounts: accountIds, tokens: tokenIds } };
  },
});
