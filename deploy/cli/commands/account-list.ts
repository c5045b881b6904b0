import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import type { Account } from '@reelgate/proto/billing/v1/account_service';
import { WrongCall, defineCommand, assertNoWords } from '../command.ts';
import { toAccountJson } from '../format/account-record.ts';
import { formatNanos } from '../format/amount.ts';
import { WIDE_OPTION, asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;
const ORDERS: Readonly<Record<string, AccountOrder>> = { id: AccountOrder.ID, balance: AccountOrder.BALANCE };

const COLUMNS: readonly Column<Account>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'CURRENCY', of: ({ currency }) => currency },
  { title: 'AVAILABLE', of: ({ balanceNanos, heldNanos }) => formatNanos(balanceNanos - heldNanos) },
  { title: 'BALANCE', of: ({ balanceNanos }) => formatNanos(balanceNanos) },
  { title: 'HELD', of: ({ heldNanos }) => formatNanos(heldNanos) },
  { title: 'CREATED', of: ({ createdAt }) => relativeTime(createdAt) },
  { title: 'CREATED AT', of: ({ createdAt }) => isoTime(createdAt) ?? '', isWide: true },
];

export const accountList = defineCommand({
  summary: 'list accounts by id, or by what they have available',
  words: '',
  options: {
    by: { value: 'ORDER', means: 'id, or balance for the least first; default: id', choices: Object.keys(ORDERS) },
    prefix: { value: 'TEXT', means: 'only accounts whose id begins with this' },
    limit: { value: 'N', means: `at most N, 1 to ${LIMIT_MAX}; default: ${LIMIT_DEFAULT}` },
    after: { value: 'ID', means: 'continue after this id, for the next page by id' },
    wide: WIDE_OPTION,
  },
  example: 'account list --by balance --limit 20',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { by = 'id', prefix = '', limit = String(LIMIT_DEFAULT), after = '', wide } = options;
    const { accounts } = await services.accounts.listAccounts({
      order: ORDERS[by] ?? AccountOrder.ID,
      prefix,
      limit: readLimit(limit),
      after,
    });
    return { answer: accounts.map(toAccountJson), text: asTable(accounts, COLUMNS, { terminal, isWide: wide }) };
  },
});

function readLimit(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > LIMIT_MAX)
    throw new WrongCall(`--limit takes a whole number from 1 to ${LIMIT_MAX}, not ${text}`);
  return Number(text);
}
