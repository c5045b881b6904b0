import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import { PriceContractSchema } from '@reelgate/proto/billing/v1/price';
import type { PriceContract } from '../../domain/price.ts';
import { isSameTerms, parseTerms } from '../../domain/price-terms.ts';
import type { TermsEntry, PriceTerms } from '../../domain/price-terms.ts';
import type { PriceEntry, PriceStore } from './price-store.ts';

type VersionRow = { version: number; terms: string };

/** Every order reads a price, and there are few prices. */
const CACHED_MAX = 10_000;
const CACHED_FRESH_MS = 1000;

const CURRENT =
  'SELECT current_version AS version FROM price_keys WHERE price_key = $1 AND current_version IS NOT NULL';
const CURRENT_OF = byRows(
  (rows) => `SELECT price_key, current_version AS version FROM price_keys
    WHERE price_key IN (${parameters(rows)}) AND current_version IS NOT NULL`,
);
const LIST = `SELECT c.price_key, c.version, c.terms, c.since_ms,
    CASE WHEN c.version = k.current_version THEN 1 ELSE 0 END AS is_current
  FROM price_contracts c JOIN price_keys k ON k.price_key = c.price_key ORDER BY c.price_key, c.version`;
const CURRENT_KEYS = 'SELECT price_key FROM price_keys WHERE current_version IS NOT NULL';
const ADD_KEY = 'INSERT INTO price_keys (price_key, last_version) VALUES ($1, 0) ON CONFLICT (price_key) DO NOTHING';
const LOCK_KEY = 'UPDATE price_keys SET last_version = last_version WHERE price_key = $1 RETURNING last_version';
const FIND_VERSION = 'SELECT version, terms FROM price_contracts WHERE price_key = $1 AND version = $2';
const ADD_VERSION = 'INSERT INTO price_contracts (price_key, version, terms, since_ms) VALUES ($1, $2, $3, $4)';
const SET_CURRENT = 'UPDATE price_keys SET last_version = $1, current_version = $1 WHERE price_key = $2';
const RETIRE = 'UPDATE price_keys SET current_version = NULL WHERE price_key = $1';

interface CachedContract {
  readonly contract: PriceContract | undefined;
  readonly readAt: number;
}

export function sqlPriceStore(sql: Sql, clock: Clock): PriceStore {
  const termsOf = newTermsCache();
  const read = async (key: string): Promise<PriceContract | undefined> => {
    const [row] = await sql.read<{ version: number }>(CURRENT, [key]);
    return row && { key, version: row.version, terms: await termsOf(sql.read, key, row.version) };
  };
  const readMany = async (keys: readonly string[]): Promise<ReadonlyMap<string, PriceContract>> => {
    const found = new Map<string, PriceContract>();
    for (const chunk of inChunks(keys))
      for (const { price_key: key, version } of await sql.read<{ price_key: string; version: number }>(
        CURRENT_OF(chunk.length),
        chunk,
      ))
        found.set(key, { key, version, terms: await termsOf(sql.read, key, version) });
    return found;
  };
  const cache = new Map<string, CachedContract>();
  const findCached = (key: string): CachedContract | undefined => {
    const cached = cache.get(key);
    return cached !== undefined && isRecent(clock, cached.readAt, CACHED_FRESH_MS) ? cached : undefined;
  };
  const remember = (key: string, cached: CachedContract): void => {
    if (cache.size >= CACHED_MAX) cache.clear();
    cache.set(key, cached);
  };
  /** Grows with every change, so that a price read before a change is not cached after it. */
  let changes = 0;
  return {
    current: async (key) => {
      const cached = findCached(key);
      if (cached !== undefined) return cached.contract;
      const [before, readAt] = [changes, clock.now()];
      const contract = await read(key);
      if (before === changes) remember(key, { contract, readAt });
      return contract;
    },
    listCurrent: async (keys) => {
      const known = new Map(keys.map((key) => [key, findCached(key)]));
      const missing = [...known].flatMap(([key, cached]) => (cached === undefined ? [key] : []));
      const [before, readAt] = [changes, clock.now()];
      const found = await readMany(missing);
      if (before === changes) for (const key of missing) remember(key, { contract: found.get(key), readAt });
      return new Map(
        [...known].flatMap(([key, cached]) => {
          const contract = cached === undefined ? found.get(key) : cached.contract;
          return contract === undefined ? [] : [[key, contract] as const];
        }),
      );
    },
    put: async (entries, now) => {
      try {
        return await sql.transaction((query) => put(query, entries, now));
      } finally {
        changes += 1;
        cache.clear();
      }
    },
    list: async () => {
      const rows = await sql.read<VersionRow & { price_key: string; since_ms: SqlInteger; is_current: number }>(LIST);
      return rows.map((row) =>
        toMessage(PriceContractSchema, {
          key: row.price_key,
          version: row.version,
          termsJson: JSON.stringify(JSON.parse(row.terms)),
          sinceMs: BigInt(row.since_ms),
          current: row.is_current === 1,
        }),
      );
    },
  };
}

/** Locks the keys in their order, so that processes that start together never deadlock. */
async function put(query: SqlQuery, entries: readonly PriceEntry[], now: number): Promise<number> {
  const wanted = new Map(entries.map((entry) => [entry.key, entry]));
  const current = (await query<{ price_key: string }>(CURRENT_KEYS)).map((row) => row.price_key);
  let made = 0;
  for (const key of [...new Set([...wanted.keys(), ...current])].sort()) {
    const entry = wanted.get(key);
    if (entry === undefined) await query(RETIRE, [key]);
    else if (await putOne(query, entry, now)) made += 1;
  }
  return made;
}

/** Returns whether it wrote a version. */
async function putOne(query: SqlQuery, { key, terms }: PriceEntry, now: number): Promise<boolean> {
  await query(ADD_KEY, [key]);
  const [locked] = await query<{ last_version: number }>(LOCK_KEY, [key]);
  const last = locked?.last_version ?? 0;
  const [kept] = await query<VersionRow>(FIND_VERSION, [key, last]);
  const isKept = kept !== undefined && isSameTerms(JSON.parse(kept.terms) as TermsEntry, terms);
  const version = isKept ? last : last + 1;
  if (!isKept) await query(ADD_VERSION, [key, version, JSON.stringify(terms), now]);
  await query(SET_CURRENT, [version, key]);
  return !isKept;
}

const FIND = 'SELECT terms FROM price_contracts WHERE price_key = $1 AND version = $2';
const TERMS_CACHED_MAX = 1000;

/** The terms of one version of a price contract. */
export type TermsOf = (query: SqlQuery, priceKey: string, version: number) => Promise<PriceTerms>;

/** A version never changes, so it is read and parsed once. A full cache is emptied. */
export function newTermsCache(): TermsOf {
  const cache = new Map<string, Map<number, PriceTerms>>();
  let count = 0;
  const remember = (priceKey: string, version: number, terms: PriceTerms): void => {
    if (count >= TERMS_CACHED_MAX) {
      cache.clear();
      count = 0;
    }
    cache.set(priceKey, (cache.get(priceKey) ?? new Map<number, PriceTerms>()).set(version, terms));
    count += 1;
  };
  return async (query, priceKey, version) => {
    const cached = cache.get(priceKey)?.get(version);
    if (cached !== undefined) return cached;
    const [row] = await query<{ terms: string }>(FIND, [priceKey, version]);
    if (row === undefined) throw new Error(`version ${version} of the price ${priceKey} does not exist`);
    const terms = parseTerms(JSON.parse(row.terms) as TermsEntry);
    remember(priceKey, version, terms);
    return terms;
  };
}
