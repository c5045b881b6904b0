import { defineCommand, readSingleId } from '../command.ts';
import { toAccountJson } from '../format/account-record.ts';

export const accountShow = defineCommand({
  summary: 'show the balance of an account',
  words: 'ID',
  options: {},
  example: 'account show demo',
  run: async ({ services, words }) => ({
    answer: toAccountJson((await services.accounts.getAccount({ id: readSingleId(words, 'account') })).account),
  }),
});
