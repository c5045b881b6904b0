import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { AccountOrder, AccountSchema } from '@reelgate/proto/billing/v1/account_service';
import type { Account, CreditAccountResponse, GetAccountResponse } from '@reelgate/proto/billing/v1/account_service';
import { readProgramConfig } from '../../program/config/program-config.ts';
import { ACTOR_OPTION, readActor, resolveTypedPath } from '../environment.ts';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { formatNanos, parseNanos } from '../format/quantities.ts';
import { limitOption, readLimit } from '../format/list-options.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';

const LIMIT = { most: 200, usual: 50 };
const ORDERS: Readonly<Record<string, AccountOrder>> = deriveValues(AccountOrder);
const COLUMNS = listColumns(AccountSchema, [
  'id',
  'currency',
  { title: 'AVAILABLE', of: formatAvailable },
  'balanceNanos',
  'heldNanos',
  'createdAt',
]);

export const accountList = defineCommand({
  summary: 'list accounts, ordered by id or by available balance',
  words: '',
  options: {
    by: {
      value: 'ORDER',
      means: 'id, or balance for ascending available balance; default: id',
      choices: Object.keys(ORDERS),
    },
    prefix: { value: 'TEXT', means: 'only accounts with an id that begins like this' },
    limit: limitOption(LIMIT),
    after: { value: 'ID', means: 'continue after this id, for the next page by id' },
    wide: WIDE_OPTION,
  },
  example: 'account list --by balance --limit 20',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { by = 'id', prefix = '', after = '' } = options;
    const answer = await services.accounts.listAccounts({
      order: ORDERS[by] ?? AccountOrder.ID,
      prefix,
      limit: readLimit(options.limit, LIMIT),
      after,
    });
    return toListOutcome(answer, answer.accounts, COLUMNS, { terminal, options });
  },
});

export const accountShow = defineCommand({
  summary: 'show the balance of an account',
  words: 'ID',
  options: {},
  example: 'account show demo',
  run: async ({ services, words }) => ({
    answer: toAccountAnswer(await services.accounts.getAccount({ id: readSingleId(words, 'account') })),
  }),
});

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
    const answer = await services.accounts.creditAccount({
      id,
      amountNanos: parseNanos(amount),
      reason: options.reason ?? '',
      actor: readActor(options.actor, environment),
    });
    return { answer: toAccountAnswer(answer) };
  },
});

export const accountExport = defineCommand({
  summary: 'print the accounts of a store of any release as configuration for a new one; no service needs to run',
  words: '',
  options: {
    from: { value: 'DIR', means: 'a backup, or a data_dir; default: the billing store of the configuration' },
  },
  example: 'account export --from /var/backups/reelgate/monday',
  run: async ({ words, options, environment }) => {
    assertNoWords(words);
    const { from } = options;
    const config = readProgramConfig(environment);
    const folder = from === undefined ? undefined : resolveTypedPath(environment, from);
    // it loads the billing service
    const { writeOpeningAccounts } = await import('../opening-accounts.ts');
    const { text, ...answer } = await writeOpeningAccounts(config, folder);
    return { answer: { ...answer, configuration: text }, text };
  },
});

/** The money of an account as decimals. Scripts depend on this shape, which is older than the contract. */
function toAccountAnswer({ account }: GetAccountResponse | CreditAccountResponse): object {
  if (account === undefined) return {};
  const { id, currency, balanceNanos, heldNanos } = account;
  return {
    ...{ id, currency, balance: formatNanos(balanceNanos), held: formatNanos(heldNanos) },
    available: formatAvailable(account),
  };
}

function formatAvailable({ balanceNanos, heldNanos }: Account): string {
  return formatNanos(balanceNanos - heldNanos);
}
