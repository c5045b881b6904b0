import type { Account } from '@reelgate/proto/billing/v1/account_service';
import { formatNanos, parseNanos } from './amount.ts';
import { WrongCall, oneId } from './command.ts';
import type { Command } from './command.ts';

export const accountCommands: Readonly<Record<string, Command>> = {
  'account show': {
    usage: 'ID',
    run: async ({ accounts }, words) => ({
      answer: shown((await accounts.getAccount({ id: oneId(words, 'account') })).account),
    }),
  },
  'account credit': {
    usage: 'ID AMOUNT --reason TEXT',
    run: async ({ accounts }, { ids, options }) => {
      const [id, amount, ...rest] = ids;
      if (id === undefined || amount === undefined || rest.length > 0)
        throw new WrongCall('name an account and an amount');
      if (options.reason === undefined) throw new WrongCall('say why, with --reason');
      const { account } = await accounts.creditAccount({
        id,
        amountNanos: parseNanos(amount),
        reason: options.reason,
        actor: options.actor ?? '',
      });
      return { answer: shown(account) };
    },
  },
};

function shown(account: Account | undefined): object {
  const { id = '', currency = '', balanceNanos = 0n, heldNanos = 0n } = account ?? {};
  return {
    id,
    currency,
    balance: formatNanos(balanceNanos),
    held: formatNanos(heldNanos),
    available: formatNanos(balanceNanos - heldNanos),
  };
}
