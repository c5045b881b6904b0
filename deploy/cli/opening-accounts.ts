import { existsSync } from 'node:fs';
import { keyHasher, readOpeningAccounts } from '@reelgate/billing/app';
import type { OpeningAccount } from '@reelgate/billing/app';
import { billingConfig } from '@reelgate/billing/config';
import { systemClock } from '@reelgate/platform/clock';
import { openStore, storeFile } from '@reelgate/platform/sql/open-store';
import type { ProgramConfig } from '../program/config/program-config.ts';
import { readAcceptedKeys } from '../program/keys/service-key.ts';
import { CommandFailed } from './command.ts';
import { formatNanos } from './format/quantities.ts';
import { readStoreSettings } from './service-stores.ts';

const HEADER = [
  '# The accounts of another store. This section takes the place of `accounts` in the configuration of a new one.',
  '# A token without a `key` gets a new key at the first start, which is printed once.',
];

/** The accounts of a store as a section of the configuration, and their sums. */
export interface OpeningSection {
  readonly text: string;
  readonly accounts: number;
  /** The credits by currency, as decimals. */
  readonly credits: Readonly<Record<string, string>>;
  /** The debts of accounts, by id. A configuration cannot have them. */
  readonly debts: Readonly<Record<string, string>>;
}

/** Writes the accounts of the billing store, or of the one in a folder, as the configuration of a new store has them. */
export async function writeOpeningAccounts(config: ProgramConfig, folder: string | undefined): Promise<OpeningSection> {
  const ofConfig = readStoreSettings(config, 'billing');
  const store = folder === undefined ? ofConfig : { ...ofConfig, url: undefined, dataDir: folder };
  if (store.url === undefined && !existsSync(storeFile(store)))
    throw new CommandFailed(`${storeFile(store)}: there is no store; expected the folder of a backup, or a data_dir`);
  const findKey = newKeyFinder(config);
  const sql = await openStore(store, { ...store.postgres, connections: 1 });
  const lines: string[] = [...HEADER, 'accounts:'];
  const [credits, debts]: [Record<string, bigint>, Record<string, string>] = [{}, {}];
  let accounts = 0;
  try {
    for await (const account of readOpeningAccounts(sql.read, systemClock.now())) {
      const { id, currency, balance } = account;
      if (balance < 0n) debts[id] = formatNanos(-balance);
      else credits[currency] = (credits[currency] ?? 0n) + balance;
      lines.push(...formatAccount(account, findKey));
      accounts += 1;
    }
  } finally {
    await sql.close();
  }
  const sums = Object.entries(credits).map(([currency, sum]) => [currency, formatNanos(sum)] as const);
  return { text: lines.join('\n'), accounts, credits: Object.fromEntries(sums), debts };
}

function formatAccount(
  { id, currency, balance, held, tokens }: OpeningAccount,
  findKey: (keyHash: string) => string | undefined,
): readonly string[] {
  const owes = `reelgate account credit ${id} ${formatNanos(balance)} --reason "opening balance"`;
  return [
    `  - id: ${JSON.stringify(id)}`,
    `    currency: ${currency}`,
    ...(balance < 0n ? [`    # it owes money; after the first start run: ${owes}`] : []),
    ...(held > 0n ? [`    # ${formatNanos(held)} of its money was held for work that had not ended`] : []),
    `    credit: "${formatNanos(balance < 0n ? 0n : balance)}"`,
    ...(tokens.length === 0 ? [] : ['    tokens:']),
    ...tokens.flatMap(({ id: token, keyHash, entry }) => [
      `      # ${token}: ${findKey(keyHash) ?? 'its key is not in the configuration'}`,
      `      - ${JSON.stringify(entry)}`,
    ]),
  ];
}

/** Finds the place of a key in the configuration. The store has only hashes of keys. */
function newKeyFinder(config: ProgramConfig): (keyHash: string) => string | undefined {
  const hash = keyHasher(readAcceptedKeys(config).tokens);
  const tokens = billingConfig(config.value).accounts.flatMap((account) =>
    account.tokens.map(({ key }, at) => ({ key, at: `token ${at + 1} of account ${account.id}` })),
  );
  const places = new Map(
    tokens.flatMap(({ key, at }) =>
      (key === undefined ? [] : hash(key.reveal())).map((one) => [
        one,
        `its key is the key of ${at} in the configuration`,
      ]),
    ),
  );
  return (keyHash) => places.get(keyHash);
}
