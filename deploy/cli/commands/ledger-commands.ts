import { ACTOR_OPTION, readActor } from '../environment.ts';
import { assertNoWords, defineCommand } from '../command.ts';
import { describeAnswer } from '../format/describe-answer.ts';
import { formatNanos } from '../format/quantities.ts';
import { verifyBooks } from '../verify-books.ts';
import type { Books } from '../verify-books.ts';
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
    return { ok: books.ledger.ok, answer: summarize(books) };
  },
});

export const ledgerRebuild = defineCommand({
  summary: 'recompute the cached sums of accounts and tokens, and list the wrong ones',
  words: '',
  options: {},
  example: 'ledger rebuild',
  run: async ({ services, words, terminal }) => {
    assertNoWords(words);
    const answer = await whileShowing(terminal, 'computing balances from the ledger', () =>
      services.accounts.rebuildBalances({}, { timeoutMs: LEDGER_TIMEOUT_MS }),
    );
    return { answer, text: describeAnswer({ accounts: answer.accountIds, tokens: answer.tokenIds }) };
  },
});

/** The result of the check. Scripts depend on this shape, which is older than the contract. */
function summarize({ ledger, holds }: Books): object {
  return {
    ok: ledger.ok,
    entries: Number(ledger.entries),
    sums: Object.fromEntries(Object.entries(ledger.sums).map(([currency, sum]) => [currency, formatNanos(sum)])),
    unsettled_terminal_tasks: holds.finished,
    orphan_holds: holds.unknown,
    open_calls: Number(ledger.openCalls),
    overdue_calls: Number(ledger.overdueCalls),
    ...(ledger.faults.length === 0 ? {} : { faults: ledger.faults }),
  };
}
