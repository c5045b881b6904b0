import { defineCommand, assertNoWords } from '../command.ts';
import { LEDGER_TIMEOUT_MS, whileShowing } from '../while-showing.ts';

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
