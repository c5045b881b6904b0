import path from 'node:path';
import { expect, test } from '@jest/globals';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { readOpeningAccounts } from './read-opening-accounts.ts';
import type { OpeningAccount } from './read-opening-accounts.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const NOW = 1000;
/** More than one read gives. */
const ACCOUNTS = 501;

describeOnEngines('the accounts that a new store begins with', (open) => {
  test('are all accounts of the store, each with the tokens that can still do something', async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    const ids = Array.from({ length: ACCOUNTS }, (_none, at) => `a${String(at).padStart(3, '0')}`);
    const account =
      'INSERT INTO accounts (id, currency, balance_nanos, held_nanos, created_at) VALUES ($1, $2, $3, 0, 1)';
    await sql.writeAll(ids.map((id, at) => [account, [id, 'USD', at]] as const));
    const token = (columns: object): Promise<unknown> => {
      const row = { account_id: 'a500', name: '', models: '["*"]', used_nanos: 0, created_at: 1, ...columns };
      const names = Object.keys(row);
      const places = names.map((_name, at) => `$${at + 1}`).join(', ');
      return sql.write(`INSERT INTO tokens (${names.join(', ')}) VALUES (${places})`, Object.values(row));
    };
    await token({ id: 't1', key_hash: 'h1' });
    const limits = { creates_per_minute: 6, in_flight: 2, limit_nanos: 3_000_000_000, used_nanos: 1_000_000_000 };
    await token({ id: 't2', key_hash: 'h2', ...limits, expires_at: NOW + 1, webhooks: 'read', queue_class: 'batch' });
    await token({ id: 't3', key_hash: 'h3', token_right: 'write', name: 'maker', queue_wait: 'own_limit' });
    await token({ id: 't4', key_hash: 'h4', made_by_token_id: 't3' });
    await token({ id: 't5', key_hash: 'h5', expires_at: NOW });
    await token({ id: 't6', key_hash: 'h6', revoked_at: 2 });

    const read: OpeningAccount[] = [];
    for await (const one of readOpeningAccounts(sql.read, NOW)) read.push(one);

    expect(read.map(({ id }) => id)).toEqual(ids);
    expect(read[7]).toEqual({ id: 'a007', currency: 'USD', balance: 7n, held: 0n, tokens: [] });
    expect(read.at(-1)?.tokens).toEqual([
      { id: 't1', keyHash: 'h1', entry: { models: ['*'], webhooks: 'write', tokens: 'none' } },
      {
        id: 't2',
        keyHash: 'h2',
        entry: {
          models: ['*'],
          limit: '2',
          expires: '1970-01-01T00:00:01.001Z',
          limits: { creates_per_minute: 6, in_flight: 2 },
          webhooks: 'read',
          tokens: 'none',
          queue: { wait: 'channels', class: 'batch' },
        },
      },
      {
        id: 't3',
        keyHash: 'h3',
        entry: {
          name: 'maker',
          models: ['*'],
          webhooks: 'write',
          tokens: 'write',
          queue: { wait: 'own_limit', class: 'standard' },
        },
      },
    ]);
  });
});
