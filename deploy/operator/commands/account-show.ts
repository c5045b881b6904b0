import { defineCommand, oneId } from '../command.ts';
import { shownAccount } from '../format/account-record.ts';

export const accountShow = defineCommand({
  summary: 'show the balance of an account',
  words: 'ID',
  options: {},
  example: 'account show demo',
  run: async ({ services, words }) => ({
    answer: shownAccount((await services.accounts.getAccount({ id: oneId(words, 'account') })).account),
  }),
});
