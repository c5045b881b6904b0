import { KEYS } from '../../harness/test-config.ts';
import type { TestConfig } from '../../harness/test-config.ts';
import { withRelay } from '../../harness/relay-config.ts';
import type { Setting } from '../engine/row.ts';
import { ALONE, RETRIED } from './refusing-upstreams.ts';
import type { Account } from './world.ts';

/** The `host:port` of the servers behind the program. */
export interface Addresses {
  readonly sandbox: string;
  readonly origin: string;
  readonly relay: string;
  /** An address where no server listens. */
  readonly closed: string;
}

const REGENERATION = 'Alpha-H3__regeneration';
/** The price of regeneration in each setting. */
export const PRICES: Readonly<Record<Setting, object | undefined>> = {
  standard: { per_second: '0.05' },
  'no price of regeneration': undefined,
  'free regeneration': { per_second: '0' },
};

export type Tokens = Readonly<Partial<Record<Account, string | undefined>>>;
export const TOKENS: Tokens = {
  main: KEYS.demo,
  narrow: KEYS.narrow,
  other: KEYS.other,
  poor: KEYS.poor,
  refusals: 'sk-refusals-0123456789',
  expired: 'sk-expired-0123456789',
  slow: 'sk-slow-0123456789',
  'one task': 'sk-one-task-0123456789',
  limited: 'sk-limited-0123456789',
};
/** One account for each row about money, with ten units. */
const MONEY = [
  'settles',
  'fails',
  'usage',
  'estimate',
  'context-ir',
  'regeneration',
  'chat',
  'async',
  'remix',
  'cancel',
];
const moneyKey = (name: string): string => `sk-money-${name}-0123456789`;

/** The token key of a sender; undefined if it sends none. */
export function tokenOf(account: Account, tokens: Tokens): string | undefined {
  if (account === 'no token') return undefined;
  if (account === 'an unknown token') return 'sk-unknown-0123456789';
  const key = account.startsWith('money ') ? moneyKey(account.slice('money '.length)) : tokens[account];
  if (key === undefined) throw new Error(`the suite has no token of ${account}`);
  return key;
}

const token = (key: string | undefined, more: object = {}): object => ({ key, models: ['*'], ...more });
const account = (id: string, credit: string, ...tokens: readonly object[]): object => ({ id, credit, tokens });

/** The configuration that the rows rely on. */
export function contractConfig(
  { sandbox, origin, relay, closed }: Addresses,
  regeneration: object | undefined,
): (config: TestConfig) => TestConfig {
  const relayed = withRelay({ upstream: relay, nobody: closed });
  return (config) => {
    const { channels, prices, accounts, media, models, ...rest } = relayed(config);
    const { [REGENERATION]: _, ...others } = prices;
    const [video] = channels;
    const refusing = [...RETRIED, ...ALONE];
    const generating = { ...video, endpoints: ['video.generation'] };
    return {
      ...rest,
      media: { ...media, fetch: { allow: [sandbox, origin] } },
      models: {
        ...models,
        'Gamma-Away': { ...models['Alpha-H3'] },
        'Delta-Off': { ...models['Alpha-H3'] },
        'Epsilon-Unpriced': { ...models['Alpha-H3'] },
        ...Object.fromEntries(refusing.map(([, model]) => [model, models['Alpha-H3']])),
      },
      channels: [
        ...channels,
        { ...generating, id: 'away', base_url: `http://${closed}`, models: { 'Gamma-Away': 'gamma' } },
        { ...generating, id: 'off', enabled: false, models: { 'Delta-Off': 'delta' } },
        { ...generating, id: 'unpriced', models: { 'Epsilon-Unpriced': 'MiniMax-H3' } },
        ...refusing.map(([how, model]) => ({
          ...generating,
          id: `refuses-${model}`,
          base_url: `http://${origin}/refuses/${how}`,
          models: { [model]: 'refused' },
          priority: 9,
        })),
        { ...generating, id: 'second', models: Object.fromEntries(RETRIED.map(([, model]) => [model, 'MiniMax-H3'])) },
      ],
      prices: {
        ...others,
        ...Object.fromEntries(refusing.map(([, model]) => [model, { per_second: '0.01' }])),
        'Beta-V1': { per_second: '0.01' },
        'Gamma-Away': { per_second: '0.01' },
        'Delta-Off': { per_second: '0.01' },
        ...(regeneration === undefined ? {} : { [REGENERATION]: regeneration }),
      },
      accounts: [
        ...accounts.filter(({ id }) => id !== 'demo'),
        account(
          'demo',
          '100000',
          token(KEYS.demo),
          { key: KEYS.narrow, models: ['Beta-V1', 'solo'] },
          token(TOKENS.expired, { expires: '2020-01-01' }),
          token(TOKENS.slow, { limits: { creates_per_minute: 2, reads_per_minute: 5, calls_per_minute: 2 } }),
          token(TOKENS['one task'], { limits: { in_flight: 1 } }),
          token(TOKENS.limited, { limit: '0.5' }),
        ),
        account('refusals', '100', token(TOKENS.refusals)),
        ...MONEY.map((name) => account(`money-${name}`, '10', token(moneyKey(name)))),
      ],
    } as TestConfig;
  };
}
