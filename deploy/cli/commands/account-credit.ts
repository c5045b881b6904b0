import { WrongCall, defineCommand } from '../command.ts';
import { toAccountJson } from '../format/account-record.ts';
import { parseNanos } from '../format/amount.ts';
import { ACTOR_OPTION, readActor } from '../actor.ts';

export const accountCredit = defineCommand({
  summary: 'add money to an account; a negative amount takes it back',
  words: 'ID AMOUNT',
  options: {
    reason: { value: 'TEXT', means: 'the reason, for the ledger', needed: true },
    actor: ACTOR_OPTION,
  },
  example: 'account credit demo 25.00 --reason "November invoice"',
  run: async ({ services, words, options, environment }) => {
    const [id, amount, ...rest] = words;
    if (id === undefined || amount === undefined || rest.length > 0)
      throw new WrongCall('name an account and an amount');
    const { account } = await services.accounts.creditAccount({
      id,
      amountNanos: parseNanos(amount),
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: toAccountJson(account) };
  },
});
