import type { Keys } from '@reelgate/platform/config/config-locations';
import { parseBytes, parseDuration } from '@reelgate/platform/config/units';
import { relayPriceKeys } from '@reelgate/gateway/config';
import { ALPHA, isPrivate, takesCallbacks } from '@reelgate/tasks/config';
import { adapterEndpoints, isRelayAdapter } from './channels-schema.ts';

/** What is wrong with a configuration that its schema accepts. What can never work is refused; what is of no use is warned of. */
export interface Finding {
  readonly refused: boolean;
  readonly keys: Keys;
  readonly message: string;
}

/** The part of a checked configuration that the rules read. */
export interface ComparedConfig {
  readonly public_url: string;
  readonly internal_callers: readonly { readonly name: string; readonly key: string }[];
  readonly models: Readonly<Record<string, ComparedModel>>;
  readonly channels: readonly ComparedChannel[];
  readonly prices: Readonly<Record<string, unknown>>;
  readonly accounts: readonly ComparedAccount[];
  readonly tasks: { readonly poll: Readonly<Record<'first' | 'max' | 'soft_deadline' | 'hard_deadline', string>> };
}

interface ComparedModel {
  readonly duration: readonly [number, number];
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly defaults: { readonly duration?: number; readonly resolution?: string; readonly ratio?: string };
}

interface ComparedChannel {
  readonly adapter: string;
  readonly enabled: boolean;
  readonly upstream_account?: string;
  readonly endpoints: readonly string[];
  readonly models: Readonly<Record<string, string>>;
  readonly callbacks: boolean;
}

interface ComparedAccount {
  readonly id: string;
  readonly tokens: readonly { readonly models: readonly string[] }[];
  readonly upstream_accounts: readonly string[];
}

type Rule = (config: ComparedConfig) => readonly Finding[];

const EVERY_MODEL = '*';
/** The operations that the contract ties to one model, and the end of the keys that they are priced under. */
const ALPHA_ONLY: Readonly<Record<string, string>> = {
  'video.regeneration': '__regeneration',
  'video.context_ir': '__context_ir',
};
/** Durations and sizes of which nothing is not less, but none at all. */
const MORE_THAN_NOTHING: readonly (readonly string[])[] = [
  ['gateway', 'limits', 'body'],
  ['tasks', 'poll'],
  ['tasks', 'jobs', 'lease'],
  ['tasks', 'jobs', 'deadline'],
  ['media', 'results'],
  ['media', 'limits'],
  ['media', 'inline', 'max_bytes'],
  ['media', 'probe'],
  ['media', 'fetch', 'timeouts'],
];

const refuse = (keys: Keys, message: string): Finding => ({ refused: true, keys, message });
const warn = (keys: Keys, message: string): Finding => ({ refused: false, keys, message });

const RULES: readonly Rule[] = [
  nothings,
  modelRanges,
  callerNames,
  channelEndpoints,
  alphaEndpoints,
  alphaPrices,
  callbackAddresses,
  pollOrder,
  unusedModels,
  unpricedModels,
  unusedPrices,
  tokenModels,
  grantedAccounts,
];

/** All findings, in the order of the rules. */
export function findingsIn(config: ComparedConfig): readonly Finding[] {
  return RULES.flatMap((rule) => rule(config));
}

function nothings(config: ComparedConfig): readonly Finding[] {
  const channelTimeouts = config.channels.map((_, at): Keys => ['channels', at, 'timeouts']);
  return [...MORE_THAN_NOTHING, ...channelTimeouts].flatMap((keys) =>
    nothingsAt(keys, keys.reduce<unknown>(within, config)),
  );
}

function within(value: unknown, key: string | number): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string | number, unknown>>)[key]
    : undefined;
}

function nothingsAt(keys: Keys, value: unknown): readonly Finding[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => nothingsAt([...keys, key], inner));
  const isNothing = typeof value === 'string' && (parseDuration(value) === 0 || parseBytes(value) === 0);
  return isNothing ? [refuse(keys, `expected more than ${value}`)] : [];
}

function modelRanges({ models }: ComparedConfig): readonly Finding[] {
  return Object.entries(models).flatMap(
    ([
      id,
      {
        duration: [least, most],
        resolutions,
        ratios,
        defaults,
      },
    ]) => {
      const at = (...keys: string[]): Keys => ['models', id, ...keys];
      const { duration = least, resolution, ratio } = defaults;
      return [
        ...(least > most
          ? [refuse(at('duration'), `expected the least before the most; it is [${String(least)}, ${String(most)}]`)]
          : []),
        ...(duration < least || duration > most
          ? [refuse(at('defaults', 'duration'), `expected ${String(least)} to ${String(most)}, the model's own range`)]
          : []),
        ...(resolution !== undefined && !resolutions.includes(resolution)
          ? [refuse(at('defaults', 'resolution'), `expected one of the model's own: ${resolutions.join(', ')}`)]
          : []),
        ...(ratio !== undefined && !ratios.includes(ratio)
          ? [refuse(at('defaults', 'ratio'), `expected one of the model's own: ${ratios.join(', ')}`)]
          : []),
      ];
    },
  );
}

function callerNames({ internal_callers: callers }: ComparedConfig): readonly Finding[] {
  return (['name', 'key'] as const).flatMap((member) =>
    callers.flatMap((caller, at) => {
      const isTaken = callers.findIndex((other) => other[member] === caller[member]) < at;
      return isTaken ? [refuse(['internal_callers', at, member], `expected a ${member} that no other caller has`)] : [];
    }),
  );
}

function channelEndpoints({ channels }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ adapter, endpoints }, at) => {
    const known = adapterEndpoints(adapter);
    return endpoints.flatMap((endpoint, index) =>
      known.includes(endpoint)
        ? []
        : [
            refuse(
              ['channels', at, 'endpoints', index],
              `the adapter ${adapter} has no ${endpoint}; expected one of: ${known.join(', ')}`,
            ),
          ],
    );
  });
}

function alphaEndpoints({ channels }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ endpoints, models }, at) =>
    endpoints.flatMap((endpoint, index) => {
      if (ALPHA_ONLY[endpoint] === undefined || Object.hasOwn(models, ALPHA)) return [];
      return [
        refuse(
          ['channels', at, 'endpoints', index],
          `only the model ${ALPHA} has ${endpoint}, and this channel has ${Object.keys(models).join(', ')}; remove the endpoint`,
        ),
      ];
    }),
  );
}

function alphaPrices({ prices }: ComparedConfig): readonly Finding[] {
  return Object.keys(prices).flatMap((key) => {
    const end = Object.values(ALPHA_ONLY).find((ending) => key.endsWith(ending));
    if (end === undefined || key === ALPHA + end) return [];
    return [
      refuse(['prices', key], `only ${ALPHA}${end} can be priced: no other model has this operation; remove the price`),
    ];
  });
}

function callbackAddresses({ public_url: url, channels }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ adapter, callbacks, enabled }, at) => {
    if (!callbacks || !enabled) return [];
    const keys: Keys = ['channels', at, 'callbacks'];
    if (!takesCallbacks(adapter))
      return [warn(keys, `the adapter ${adapter} gives its upstream no address to call; remove the key`)];
    if (isPrivate(url))
      return [
        warn(
          keys,
          `an upstream elsewhere cannot reach the private public_url ${url}; expected a public https:// address, or callbacks: false`,
        ),
      ];
    return url.startsWith('http://')
      ? [
          refuse(
            keys,
            `the secret address of a callback would cross the network in the clear; expected public_url to be https://, or callbacks: false`,
          ),
        ]
      : [];
  });
}

function pollOrder({ tasks: { poll } }: ComparedConfig): readonly Finding[] {
  const ms = (name: keyof typeof poll): number => parseDuration(poll[name]) ?? 0;
  return [
    ...(ms('first') > ms('max')
      ? [warn(['tasks', 'poll', 'max'], `expected at least tasks.poll.first, ${poll.first}, which is taken for it`)]
      : []),
    ...(ms('soft_deadline') > ms('hard_deadline')
      ? [
          warn(
            ['tasks', 'poll', 'soft_deadline'],
            `expected at most tasks.poll.hard_deadline, ${poll.hard_deadline}; a task waits for a person before anyone is alerted`,
          ),
        ]
      : []),
  ];
}

function unusedModels({ models, channels }: ComparedConfig): readonly Finding[] {
  return Object.keys(models).flatMap((id) => {
    const serving = channels.filter((channel) => Object.hasOwn(channel.models, id));
    if (serving.length === 0)
      return [warn(['models', id], 'no channel has this model; expected it under models of a channel')];
    return serving.every(({ adapter }) => isRelayAdapter(adapter))
      ? [warn(['models', id], 'only relay channels have this model, and they need no entry here; remove it')]
      : [];
  });
}

/** Under which keys a price of a model at an endpoint may stand, the most particular first. */
function priceKeysOf(model: string, endpoint: string): readonly string[] {
  if (endpoint === 'video.generation') return [model];
  const end = ALPHA_ONLY[endpoint];
  if (end !== undefined) return model === ALPHA ? [model + end] : [];
  return relayPriceKeys(endpoint, model);
}

function unpricedModels({ channels, prices }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ endpoints, models, enabled }, at) =>
    (enabled ? Object.keys(models) : []).flatMap((model) => {
      const unpriced = endpoints.filter((endpoint) => {
        const keys = priceKeysOf(model, endpoint);
        return keys.length > 0 && !keys.some((key) => Object.hasOwn(prices, key));
      });
      if (unpriced.length === 0) return [];
      const wanted = [...new Set(unpriced.map((endpoint) => priceKeysOf(model, endpoint).at(-1) ?? model))];
      return [
        warn(
          ['channels', at, 'models', model],
          `has no price at ${unpriced.join(', ')}: every call is refused with model_price_error; expected ${wanted.map((key) => `prices.${key}`).join(', ')}`,
        ),
      ];
    }),
  );
}

function unusedPrices({ channels, prices }: ComparedConfig): readonly Finding[] {
  const used = new Set(
    channels.flatMap(({ endpoints, models }) =>
      Object.keys(models).flatMap((model) => endpoints.flatMap((endpoint) => priceKeysOf(model, endpoint))),
    ),
  );
  return Object.keys(prices).flatMap((key) =>
    used.has(key)
      ? []
      : [warn(['prices', key], 'no channel has this model at this endpoint; nothing is charged by it')],
  );
}

function tokenModels({ accounts, channels }: ComparedConfig): readonly Finding[] {
  const known = new Set([EVERY_MODEL, ...channels.flatMap(({ models }) => Object.keys(models))]);
  return accounts.flatMap(({ tokens }, at) =>
    tokens.flatMap(({ models }, token) =>
      models.flatMap((model, index) =>
        known.has(model)
          ? []
          : [
              warn(
                ['accounts', at, 'tokens', token, 'models', index],
                `no channel has the model ${model}; expected a channel's model, or "*"`,
              ),
            ],
      ),
    ),
  );
}

function grantedAccounts({ accounts, channels }: ComparedConfig): readonly Finding[] {
  const known = new Set(channels.flatMap(({ upstream_account: account }) => account ?? []));
  return accounts.flatMap(({ upstream_accounts: granted }, at) =>
    granted.flatMap((name, index) =>
      known.has(name)
        ? []
        : [
            warn(
              ['accounts', at, 'upstream_accounts', index],
              `no channel has the upstream account ${name}; expected one of: ${[...known].join(', ')}`,
            ),
          ],
    ),
  );
}
