import { relayChannelEndpoints } from '@reelgate/gateway/config';
import { RELAY_KEYS, UPSTREAM_MODELS } from './relay-upstream/identities.ts';
import type { TestConfig } from './test-config.ts';

/** Every endpoint of the synchronous routes. */
const ENDPOINTS = relayChannelEndpoints['relay'];
/** The keys between the services come from this key, so that a test can call the services. */
export const RELAY_SIGNING_KEY = 'signing-key-of-the-test-0123456789';
const PLENTY = 100_000;
const TOKENS = { per_million_tokens: { input: '1000', output: '2000' } };

/** What its tests call the models: `twice` has two channels, `solo` one, `same` is called so upstream too. */
export const RELAY_MODELS = [
  'twice',
  'solo',
  'same',
  'unpriced',
  'slashed',
  'claude',
  'gemini',
  'reached',
  'limited',
  'chat-only',
  'broken',
] as const;
/** A model whose only channel is switched off. */
export const SWITCHED_OFF = 'switched-off';

/** An account for each test about money, with a key of its own. */
export const moneyAccount = (name: string): { readonly id: string; readonly key: string } => ({
  id: `money-${name}`,
  key: `sk-money-${name}-0123456789`,
});

export interface RelayOptions {
  /** The `host:port` of the upstream, and one where no server listens. */
  readonly upstream: string;
  readonly nobody: string;
  /** Accounts with ten units each. */
  readonly accounts?: readonly string[];
  readonly gateway?: object;
}

/** The configuration of every test, with the channels and prices of the synchronous routes. */
export function withRelay({
  upstream,
  nobody,
  accounts = [],
  gateway = {},
}: RelayOptions): (config: TestConfig) => TestConfig {
  const channel = (id: keyof typeof UPSTREAM_MODELS, models: readonly string[], more: object = {}): object => ({
    id: `relay-secret-${id}`,
    adapter: 'relay',
    base_url: `http://${upstream}/${id}`,
    api_key: RELAY_KEYS[id],
    endpoints: ENDPOINTS,
    models: Object.fromEntries(models.map((model) => [model, UPSTREAM_MODELS[id]])),
    limits: { requests_per_minute: PLENTY, in_flight: 1000 },
    ...more,
  });
  const channels = [
    channel('main', ['twice', 'solo', 'unpriced'], {
      models: { twice: UPSTREAM_MODELS.main, solo: UPSTREAM_MODELS.main, unpriced: UPSTREAM_MODELS.main, same: 'same' },
      priority: 1,
    }),
    channel('spare', ['twice', 'reached']),
    channel('slash', ['slashed'], { base_url: `http://${upstream}/slash/v1`, endpoints: ['chat'] }),
    channel('anthropic', ['claude'], { auth: 'x-api-key', endpoints: ['messages'] }),
    channel('google', ['gemini'], { auth: 'x-goog-api-key', endpoints: ['generate_content'] }),
    channel('main', ['limited'], { id: 'relay-secret-limited', limits: { requests_per_minute: 2, in_flight: 30 } }),
    channel('main', ['chat-only'], { id: 'relay-secret-chat', endpoints: ['chat'] }),
    channel('main', ['broken'], { id: 'relay-secret-broken' }),
    channel('main', ['reached'], { id: 'relay-secret-nobody', base_url: `http://${nobody}`, priority: 9 }),
    channel('main', [SWITCHED_OFF], { id: 'relay-secret-off', enabled: false }),
  ];
  const tokenPrices = Object.fromEntries(
    RELAY_MODELS.filter((model) => model !== 'unpriced').map((model) => [model, { ...TOKENS, hold: '0.5' }]),
  );
  return (config) => ({
    ...config,
    gateway: {
      ...config.gateway,
      limits: { ...config.gateway.limits, calls_per_minute: PLENTY },
      ...gateway,
    } as TestConfig['gateway'],
    channels: [...config.channels, ...channels] as TestConfig['channels'],
    prices: {
      ...config.prices,
      ...tokenPrices,
      solo__images_generations: { images: { each: '0.04' } },
      solo__images_edits: { images: { each: '0.05' } },
      solo__audio_speech: { per_request: '0.03' },
      solo__audio_transcriptions: { per_second: '0.01', hold: '0.1' },
      solo__audio_translations: { per_second: '0.01', hold: '0.1' },
      solo__rerank: { per_request: '0.002' },
    } as TestConfig['prices'],
    signing_key: RELAY_SIGNING_KEY,
    accounts: [
      ...config.accounts.map((account) => ({
        ...account,
        tokens: account.tokens.map((token) =>
          token.models[0] === '*' ? token : { ...token, models: [...token.models, 'solo'] },
        ),
      })),
      ...accounts.map((name) => ({
        id: moneyAccount(name).id,
        credit: '10.00',
        tokens: [{ key: moneyAccount(name).key, models: ['*'] }],
      })),
    ] as TestConfig['accounts'],
  });
}
