import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { Secret } from '@reelgate/platform/secret';
import { storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreEntry, StoreSettings } from '@reelgate/platform/sql/store-settings';
import { parseAmount } from './domain/money.ts';
import type { Nanos } from './domain/money.ts';
import { DEFAULT_QUEUE, TOKEN_CLASSES } from './domain/token.ts';
import type { TokenQueue, TokenRight, WebhookRight } from './domain/token.ts';
import { canBePriceKey } from './domain/usage.ts';
import { parseTerms } from './domain/price-terms.ts';
import type { PriceTerms, TermsEntry } from './domain/price-terms.ts';
import { discountTerms, parseDiscount, toClassKey } from './domain/price-class.ts';
import type { ClassDiscounts } from './domain/price-class.ts';
import type { UpstreamPrices } from './domain/apply-usage.ts';
import type { AccountEntry, TokenEntry } from './operations/accounts/put-accounts.ts';
import type { PriceEntry } from './store/prices/price-store.ts';

export { billingSchema, termsSchema } from './config-schema.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');

export interface BillingConfig {
  readonly store: StoreSettings;
  /** Usage up to this many times the hold is charged in full. */
  readonly overrunFactor: number;
  /** A larger hold of a relayed call is durable before the call is sent. */
  readonly sendAheadMax: Nanos;
  readonly prices: readonly PriceEntry[];
  readonly accounts: readonly AccountEntry[];
  /** The public ids of all models, including the models of channels. */
  readonly models: ReadonlySet<string>;
  readonly upstreamPrices: UpstreamPrices;
}

/** The value after the schema check. */
interface CheckedConfig {
  readonly billing: StoreEntry & { readonly overrun_factor: number; readonly send_ahead_max: string };
  readonly prices: Readonly<Record<string, CheckedPrice>>;
  readonly accounts: readonly CheckedAccount[];
  readonly models?: Readonly<Record<string, unknown>>;
  readonly channels?: readonly CheckedChannel[];
}

type CheckedPrice = TermsEntry & { readonly class_discounts?: ClassDiscounts };

interface CheckedChannel {
  readonly id: string;
  readonly models: Readonly<Record<string, string>>;
  readonly upstream_prices?: Readonly<Record<string, TermsEntry>>;
}

interface CheckedAccount {
  readonly id: string;
  readonly currency: string;
  readonly credit: string;
  readonly tokens: readonly CheckedToken[];
}

interface CheckedToken {
  readonly key?: string;
  readonly models: readonly string[];
  readonly name?: string;
  readonly limit?: string;
  readonly confirm_above?: string;
  readonly expires?: string;
  readonly limits?: {
    readonly creates_per_minute?: number;
    readonly reads_per_minute?: number;
    readonly calls_per_minute?: number;
    readonly in_flight?: number;
  };
  readonly webhooks?: WebhookRight;
  readonly tokens?: TokenRight;
  readonly queue?: Partial<TokenQueue>;
}

type Path = readonly (string | number)[];

/**
 * The checked value as billing uses it. Refuses values that a schema cannot refuse: amounts out of bounds, days that do
 * not exist, duplicate ids and keys.
 */
export function billingConfig(value: unknown): BillingConfig {
  const { billing, prices, accounts, models = {}, channels = [] } = value as CheckedConfig;
  const named = [
    ...listNamedModels(models, ['models']),
    ...channels.flatMap((channel, at) => listNamedModels(channel.models, ['channels', at, 'models'])),
  ];
  assertNoSharedKeys(named);
  assertDistinct(
    accounts.map(({ id }, at) => ({ value: id, path: ['accounts', at, 'id'] })),
    'an id that no other account has',
  );
  assertDistinct(
    accounts.flatMap(({ tokens }, at) =>
      tokens.map(({ key }, token) => ({ value: key, path: ['accounts', at, 'tokens', token, 'key'] })),
    ),
    'a key that no other token has',
  );
  return {
    store: storeSettings(billing, { name: 'billing', migrations: MIGRATIONS }),
    overrunFactor: billing.overrun_factor,
    sendAheadMax: readAmount(billing.send_ahead_max, ['billing', 'send_ahead_max']),
    prices: Object.entries(prices).flatMap(([key, price]) => priceEntries(prices, key, price)),
    accounts: accounts.map(({ id, currency, credit, tokens }, at) => ({
      id,
      currency,
      credit: readAmount(credit, ['accounts', at, 'credit']),
      tokens: tokens.map((token, index) => tokenEntry(token, ['accounts', at, 'tokens', index])),
    })),
    models: new Set(named.map(({ model }) => model)),
    upstreamPrices: new Map(channels.map((channel, at) => [channel.id, upstreamTerms(channel, ['channels', at])])),
  };
}

/** The discount of a class becomes a contract of its own, with a key and versions like any other. */
function priceEntries(
  prices: CheckedConfig['prices'],
  key: string,
  { class_discounts: discounts = {}, ...terms }: CheckedPrice,
): readonly PriceEntry[] {
  const path = ['prices', key];
  if (Object.keys(terms).length === 0) throw toConfigError(path, 'expected a price beside class_discounts');
  assertTerms(terms, path);
  const ofClasses = TOKEN_CLASSES.flatMap((ofClass) => {
    const { [ofClass]: text } = discounts;
    if (text === undefined) return [];
    const at = [...path, 'class_discounts', ofClass];
    const discount = parseDiscount(text);
    if (discount === undefined) throw toConfigError(at, 'expected a decimal from "0" to "1"');
    const classKey = toClassKey(key, ofClass);
    if (Object.hasOwn(prices, classKey)) throw toConfigError(at, `expected it, or the price ${classKey}, but not both`);
    return [{ key: classKey, terms: discountTerms(terms, discount) }];
  });
  return [{ key, terms }, ...ofClasses];
}

function tokenEntry(
  { key, models, name = '', limit, expires, limits = {}, webhooks = 'write', tokens = 'none', ...more }: CheckedToken,
  path: Path,
): TokenEntry {
  const { queue, confirm_above: confirmAbove } = more;
  return {
    key: key === undefined ? undefined : new Secret(key),
    models,
    name,
    limit: limit === undefined ? undefined : readAmount(limit, [...path, 'limit']),
    expiresAt: expires === undefined ? undefined : readTime(expires, [...path, 'expires']),
    limits: {
      createsPerMinute: limits.creates_per_minute,
      readsPerMinute: limits.reads_per_minute,
      callsPerMinute: limits.calls_per_minute,
      inFlight: limits.in_flight,
    },
    webhooks,
    tokens,
    queue: { ...DEFAULT_QUEUE, ...queue },
    confirmAbove: confirmAbove === undefined ? undefined : readAmount(confirmAbove, [...path, 'confirm_above']),
  };
}

function upstreamTerms(
  { models, upstream_prices: prices = {} }: CheckedChannel,
  path: Path,
): ReadonlyMap<string, PriceTerms> {
  return new Map(
    Object.entries(prices).map(([key, entry]) => {
      const at = [...path, 'upstream_prices', key];
      if (!Object.keys(models).some((model) => model === key || canBePriceKey(model, key)))
        throw toConfigError(at, 'expected a price key of a model of the channel');
      assertTerms(entry, at);
      return [key, parseTerms(entry)];
    }),
  );
}

interface NamedModel {
  readonly model: string;
  readonly path: Path;
}

function listNamedModels(models: Readonly<Record<string, unknown>>, path: Path): readonly NamedModel[] {
  return Object.keys(models).map((model) => ({ model, path: [...path, model] }));
}

/**
 * In a price key, two underscores end the model's name. Without this check, the prices and statements of two models
 * could share a key.
 */
function assertNoSharedKeys(models: readonly NamedModel[]): void {
  for (const { model, path } of models) {
    const other = models.find((one) => canBePriceKey(one.model, model));
    if (other !== undefined)
      throw toConfigError(
        path,
        `expected a name that does not begin with ${other.model}__, which begins the price keys of ${other.model}`,
      );
  }
}

/** Refuses terms that no price can have. */
function assertTerms(entry: TermsEntry, path: Path): void {
  assertAmounts(entry, path);
  assertHoldApplies(entry, path);
}

/** Each string of a price is a decimal. */
function assertAmounts(entry: unknown, path: Path): void {
  if (typeof entry === 'string') readAmount(entry, path);
  if (typeof entry !== 'object' || entry === null) return;
  for (const [key, inner] of Object.entries(entry)) assertAmounts(inner, [...path, key]);
}

/** A `hold` replaces unknown tokens or seconds, so one of the two must have a price. */
function assertHoldApplies({ hold, per_million_tokens: tokens, per_second: seconds }: TermsEntry, path: Path): void {
  if (hold !== undefined && tokens === undefined && seconds === undefined)
    throw toConfigError(path, 'expected per_million_tokens or per_second beside hold');
}

function readAmount(text: string, path: Path): Nanos {
  const nanos = parseAmount(text);
  if (nanos === undefined) throw toConfigError(path, 'expected at most "1000000000"');
  return nanos;
}

/** A day without a time means midnight UTC. Refuses a day that does not exist, such as 2027-02-30. */
function readTime(text: string, path: Path): number {
  const ms = Date.parse(text);
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day))
    throw toConfigError(path, 'expected a day that exists, such as 2027-01-31');
  return ms;
}

function assertDistinct(
  items: readonly { readonly value: string | undefined; readonly path: Path }[],
  expected: string,
): void {
  const seen = new Set<string>();
  for (const { value, path } of items) {
    if (value === undefined) continue;
    if (seen.has(value)) throw toConfigError(path, `expected ${expected}`);
    seen.add(value);
  }
}

function toConfigError(path: Path, expected: string): ConfigError {
  return new ConfigError(`${path.join('.')}: ${expected}`);
}
