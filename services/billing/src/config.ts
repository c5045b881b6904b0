import path from 'node:path';
import { ConfigError } from '@reelgate/platform/config/config-file';
import {
  address,
  choice,
  convert,
  decimal,
  list,
  readSection,
  secret,
  section,
  sectionSchema,
  text,
  whole,
} from '@reelgate/platform/config/settings';
import type { EntryAt, EntryOf } from '@reelgate/platform/config/settings';
import { drainKeys } from '@reelgate/platform/config/drain-keys';
import { storeKeys, storeSettings } from '@reelgate/platform/sql/store-settings';
import type { StoreSettings } from '@reelgate/platform/sql/store-settings';
import { listenerTls } from '@reelgate/platform/tls/tls-schema';
import { parseAmount } from './domain/money.ts';
import type { Nanos } from './domain/money.ts';
import { DEFAULT_QUEUE, TOKEN_CLASSES } from './domain/token.ts';
import { canBePriceKey } from './domain/usage.ts';
import { parseTerms } from './domain/price-terms.ts';
import type { PriceTerms, TermsEntry } from './domain/price-terms.ts';
import { discountTerms, parseDiscount, toClassKey } from './domain/price-class.ts';
import type { ClassDiscounts } from './domain/price-class.ts';
import type { UpstreamPrices } from './domain/apply-usage.ts';
import type { AccountEntry } from './operations/accounts/accounts.ts';
import { priceSchema } from './price-settings.ts';
import type { PriceEntry } from './store/prices/price-store.ts';

export { termsSchema } from './price-settings.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../migrations');

/** The section `billing`. */
const billingKeys = {
  listen: address('the gRPC address', {
    absent: '`127.0.0.1:9102` for callers',
    expects: 'the address of its gRPC port',
  }),
  http: address('the address of Connect, health and metrics', {
    absent: 'none',
    expects: 'the address of its HTTP port',
  }),
  tls: listenerTls,
  drain: drainKeys({ default: '15s' }),
  ...storeKeys,
  overrun_factor: whole(
    'the most times its hold that a task or a call is charged without confirmation by an operator',
    { default: 10, max: 1_000_000 },
  ),
  send_ahead_max: amount(
    'with the embedded database: the largest hold of a relayed call, in units of its currency, that is only ' +
      'reserved when the call is sent, and durable before the client sees an answer',
    { default: '1' },
  ),
};

/** An entry of `accounts[].tokens`. */
const tokenKeys = {
  key: secret('the key of the token, 8 to 256 visible ASCII characters', {
    absent: 'the first start makes one',
    pattern: '^[!-~]{8,256}$',
    expects: '8 to 256 visible ASCII characters; if empty, the first start makes a key',
  }),
  models: list('the models that it may use; `"*"` is every model', text('the id of a model', { minLength: 1 }), {
    required: true,
    expects: 'a list of model ids; "*" is every model',
  }),
  name: text('its name', { absent: 'none', maxLength: 256 }),
  limit: amount('the most that it may spend', { absent: 'none' }),
  confirm_above: amount(
    'the price above which an order of an agent needs the agreement of a person, a decimal in quotes',
    {
      absent: 'none does',
      expects: 'the price above which an order of an agent needs a person, a decimal in quotes such as "1.00"',
    },
  ),
  limits: section(
    {
      creates_per_minute: own('gateway.limits.creates_per_minute'),
      reads_per_minute: own('gateway.limits.reads_per_minute'),
      calls_per_minute: own('gateway.limits.calls_per_minute'),
      in_flight: own('tasks.in_flight.per_token'),
    },
    { default: {}, expects: 'limits of its own, such as { creates_per_minute: 600, in_flight: 100 }' },
  ),
  webhooks: choice(
    'what it may do with the webhooks of its account: `write`, `read` or `none`',
    ['write', 'read', 'none'],
    { default: 'write', expects: 'what the token may do with webhooks: write, read or none; if empty, write' },
  ),
  tokens: choice(
    'what it may do with the tokens of its account: `write` makes tokens that can do no more than itself, and ' +
      'revokes what it made; `read` only sees them, without their keys',
    ['write', 'read', 'none'],
    {
      default: 'none',
      expects: 'what the token may do with the tokens of its account: write, read or none; if empty, none',
    },
  ),
  queue: section(
    {
      wait: choice(
        'for what its creates may wait while the queue is enabled: `channels`, `own_limit` (also for the end of a ' +
          'task while the token is at `in_flight`), or `none`',
        ['none', 'channels', 'own_limit'],
        {
          default: DEFAULT_QUEUE.wait,
          expects: 'for what its creates may wait: none, channels or own_limit; if empty, channels',
        },
      ),
      class: choice(
        'the best class in which its tasks wait: `interactive`, `standard` or `batch`',
        ['interactive', 'standard', 'batch'],
        {
          default: DEFAULT_QUEUE.class,
          expects: 'the best class of its tasks: interactive, standard or batch; if empty, standard',
        },
      ),
    },
    { default: {}, expects: 'how its tasks wait for a channel, such as { wait: own_limit, class: batch }' },
  ),
  expires: convert(
    text('a date, or a time with its zone', {
      as: 'expiresAt',
      absent: 'never',
      pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,3})?)?(Z|[+-]\\d{2}:\\d{2}))?$',
      expects: 'a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z',
    }),
    readTime,
  ),
};

/** The key `accounts`. */
const accountsKey = list(
  'the accounts and their tokens',
  section(
    {
      id: text('the id of the account', {
        required: true,
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
        expects: '1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first',
      }),
      currency: text('an ISO 4217 code', {
        default: 'USD',
        pattern: '^[A-Z]{3}$',
        expects: 'an ISO 4217 code such as USD',
      }),
      credit: amount('the first balance', { default: '0' }),
      tokens: list('its tokens', section(tokenKeys, { expects: 'a token such as { models: ["*"] }' }), {
        default: [],
        expects: 'a list of tokens',
      }),
      upstream_accounts: list(
        'the upstream accounts whose files the account may use',
        text('an upstream account', { minLength: 1 }),
        { default: [], expects: 'a list of upstream accounts whose files the account can refer to' },
      ),
    },
    { expects: 'an account such as { id: demo, credit: "100.00", tokens: [{ models: ["*"] }] }' },
  ),
  { default: [], expects: 'a list of accounts' },
);

/** The configuration keys that billing owns. */
export const billingSchema = {
  billing: { ...sectionSchema(billingKeys), default: {}, description: 'the settings of the billing service' },
  prices: {
    type: 'object',
    description: 'prices by key, such as Alpha-H3: { per_second: "0.08" }',
    default: {},
    additionalProperties: priceSchema,
  },
  accounts: accountsKey.schema,
};

function amount<const O extends NonNullable<Parameters<typeof decimal>[1]>>(about: string, options: O) {
  return convert(decimal(about, options), readAmount);
}

function own(replaced: string) {
  return whole(`replaces \`${replaced}\``, { absent: `\`${replaced}\`` });
}

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

/** The sections as the checked file has them. */
export type BillingEntry = EntryOf<typeof billingKeys>;
export type AccountsEntry = EntryAt<typeof accountsKey>;

/** The value after the schema check. */
interface CheckedConfig {
  readonly billing: BillingEntry;
  readonly prices: Readonly<Record<string, CheckedPrice>>;
  readonly accounts: AccountsEntry;
  readonly models?: Readonly<Record<string, unknown>>;
  readonly channels?: readonly CheckedChannel[];
}

type CheckedPrice = TermsEntry & { readonly class_discounts?: ClassDiscounts };

interface CheckedChannel {
  readonly id: string;
  readonly models: Readonly<Record<string, string>>;
  readonly upstream_prices?: Readonly<Record<string, TermsEntry>>;
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
  const { url, postgres, mode, overrunFactor, sendAheadMax } = readSection(billingKeys, billing, 'billing');
  return {
    store: storeSettings({ url, postgres, mode }, { name: 'billing', migrations: MIGRATIONS }),
    overrunFactor,
    sendAheadMax,
    prices: Object.entries(prices).flatMap(([key, price]) => priceEntries(prices, key, price)),
    accounts: accountsKey.read(accounts, 'accounts').map(({ upstreamAccounts: _ofTasks, tokens, ...account }) => ({
      ...account,
      tokens: tokens.map((token) => ({ ...token, name: token.name ?? '' })),
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
  if (typeof entry === 'string') readAmount(entry, path.join('.'));
  if (typeof entry !== 'object' || entry === null) return;
  for (const [key, inner] of Object.entries(entry)) assertAmounts(inner, [...path, key]);
}

/** A `hold` replaces unknown tokens or seconds, so one of the two must have a price. */
function assertHoldApplies({ hold, per_million_tokens: tokens, per_second: seconds }: TermsEntry, path: Path): void {
  if (hold !== undefined && tokens === undefined && seconds === undefined)
    throw toConfigError(path, 'expected per_million_tokens or per_second beside hold');
}

function readAmount(decimalText: string, at: string): Nanos {
  const nanos = parseAmount(decimalText);
  if (nanos === undefined) throw new ConfigError(`${at}: expected at most "1000000000"`);
  return nanos;
}

/** A day without a time means midnight UTC. Refuses a day that does not exist, such as 2027-02-30. */
function readTime(time: string, at: string): number {
  const ms = Date.parse(time);
  const day = time.slice(0, 'yyyy-mm-dd'.length);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day))
    throw new ConfigError(`${at}: expected a day that exists, such as 2027-01-31`);
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
