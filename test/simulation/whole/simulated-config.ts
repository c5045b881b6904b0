import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BillingConfig } from '@reelgate/billing/config';
import type { GatewayConfig } from '@reelgate/gateway/config';
import type { MediaConfig } from '@reelgate/media/config';
import type { TasksConfig } from '@reelgate/tasks/config';
import { Scope } from '@reelgate/proto/access/v1/access';
import type { Caller as ServiceCaller } from '@reelgate/platform/rpc/service';
import type { Draws } from './draws.ts';
import type { Program } from './program.ts';
import { ALPHA, CHAT, KLING } from './upstream-hosts.ts';
import { RESULTS_HOST, WORK_ID } from './upstream-works.ts';

/** The largest body that the gateway takes. */
export const BODY_BYTES_MAX = 256 * 1024;
export const PUBLIC_URL = 'https://gateway.example';
export const SIGNING_KEY = 'signing-key-of-the-simulation';
export const CHAT_MODEL = 'simulated-chat';
export const DURATIONS = [5, 10] as const;
export const RATIOS = ['16:9', '9:16', '1:1'] as const;
/** The models with their prices: billionths of a dollar for a second, by resolution. Only the second one has remixes. */
export const MODELS: Readonly<Record<string, Readonly<Record<string, bigint>>>> = {
  'Simulated-V1': { '720p': 80_000_000n, '1080p': 130_000_000n },
  'Alpha-H3': { '768P': 70_000_000n, '2K': 150_000_000n },
};
export const REMIXED_MODEL = 'Alpha-H3';
/** By resolution: no two models have the same one. */
export const NANOS_PER_SECOND: Readonly<Record<string, bigint>> = Object.assign({}, ...Object.values(MODELS));
export const REMIX_NANOS_PER_SECOND = 50_000_000n;
/** The price of a second of a reference video, of every model. */
export const INPUT_NANOS_PER_SECOND = 20_000_000n;
/** What a task of the class `batch` costs of the whole price, in percent. */
export const BATCH_PERCENT = 50n;
/** The percentages of all prices, one after the other with each reload. */
export const PRICE_PERCENTS = [100n, 130n, 80n] as const;
/** The prices of the tokens of a relayed call. */
export const NANOS_PER_TOKEN = { input: 500n, output: 1500n } as const;
/** A queued call is leased for this time, and its lease is renewed while it lasts. */
export const JOB_LEASE_MS = 10_000;
export const ALPHA_CHANNEL = 'alpha-channel';
export const KLING_CHANNEL = 'kling-channel';
export const CHAT_CHANNEL = 'chat-channel';

/** The accounts of the clients, each with the keys of its tokens. */
export const RICH = { id: 'acme', keys: ['sk-simulated-acme-1', 'sk-simulated-acme-2'] } as const;
export const POOR = { id: 'shoestring', keys: ['sk-simulated-shoestring'] } as const;
/** Its token is revoked in the middle of a run. */
export const REVOKED = { id: 'leaver', keys: ['sk-simulated-leaver'] } as const;

/** Its clients order with tokens that a token with a limit has made, directly or through another one. */
export const TEAM = { id: 'studio', keys: ['sk-simulated-studio'] } as const;

/** A team that calls the tasks service directly, as `callers` of a configuration describe one. It has one account. */
export const CALLING_TEAM: ServiceCaller = {
  name: 'video-team',
  accounts: [RICH.id],
  scopes: new Set([Scope.TASKS_READ, Scope.TASKS_WRITE]),
};

/** A token and the account that it belongs to. */
export interface Caller {
  readonly account: string;
  readonly token: string;
}

/** Names that no client may see. */
export const PRIVATE_NAMES: readonly string[] = [
  ...[ALPHA, KLING, CHAT].flatMap(({ origin, account, models }) => [
    new URL(origin).host,
    account,
    ...Object.values(models),
  ]),
  ...[ALPHA_CHANNEL, KLING_CHANNEL, CHAT_CHANNEL, WORK_ID, RESULTS_HOST],
];

/** What seeds differ in. */
export interface Variation {
  readonly poorCredit: string;
  readonly perToken: number;
  readonly channelInFlight: number;
  readonly requestsPerMinute: number;
  readonly hasCallbacks: boolean;
  /** The longest wait of a task for a channel; undefined: none waits. */
  readonly longestWait: string | undefined;
  /** The wait of the tasks of the rich account's second token; undefined: it is not configured. */
  readonly tokenQueue: { readonly wait: string; readonly class: string } | undefined;
}

/**
 * Draws the settings of a seed. Most seeds have room, and some have limits that are full most of the time.
 */
export function drawVariation(draws: Draws): Variation {
  const isTight = draws.happens('config tight', TIGHT);
  const hasQueue = draws.happens('config queue', QUEUES);
  return {
    poorCredit: draws.pick('config credit', ['0.50', '1.50', '4.00']),
    perToken: isTight ? draws.whole('config per token', 6, 16) : 1000,
    channelInFlight: isTight ? draws.whole('config in flight', 8, 30) : 1000,
    requestsPerMinute: isTight ? draws.whole('config requests', 20, 60) : 6000,
    hasCallbacks: draws.happens('config callbacks', CALLBACKS),
    longestWait: hasQueue ? draws.pick('config longest wait', ['20s', '2m', '8m']) : undefined,
    tokenQueue: hasQueue
      ? {
          wait: draws.pick('config token wait', ['none', 'channels', 'own_limit']),
          class: draws.pick('config token class', ['interactive', 'standard', 'batch']),
        }
      : undefined,
  };
}

const TIGHT = 0.25;
const CALLBACKS = 0.5;
const QUEUES = 0.5;
/** The weights that a channel has, one after the other with each reload. As many as there are price tables. */
const WEIGHTS = PRICE_PERCENTS.length;

interface ChannelPlace {
  readonly origin: string;
  readonly account: string;
  readonly models: Readonly<Record<string, string>>;
}

/** `weight` is what a reload changes. */
function describeChannel(
  [id, adapter, endpoints]: readonly [id: string, adapter: string, endpoints: readonly string[]],
  { origin, account, models }: ChannelPlace,
  { channelInFlight, requestsPerMinute }: Variation,
  weight: number,
): object {
  return {
    ...{ id, adapter, base_url: origin, api_key: `key-of-${account}`, weight },
    ...(adapter === 'relay' ? {} : { upstream_account: account }),
    ...{ endpoints, models },
    limits: { requests_per_minute: requestsPerMinute, in_flight: channelInFlight },
  };
}

const toDecimal = (nanos: bigint): string => (Number(nanos) / 1e9).toFixed(9);
const perMillion = (nanos: bigint): string => toDecimal(nanos * 1_000_000n);

function describeQueue({ longestWait }: Variation): object {
  if (longestWait === undefined) return { queue: { enabled: false } };
  return { queue: { longest_wait: { interactive: longestWait, standard: longestWait, batch: longestWait } } };
}

/** The configuration of the one program as an operator writes it; `reloads` counts its changes. */
function describeProgram(variation: Variation, reloads: number): object {
  const { perToken, hasCallbacks, tokenQueue } = variation;
  const percent = PRICE_PERCENTS[reloads % PRICE_PERCENTS.length]!;
  const price = (nanos: bigint): string => toDecimal((nanos * percent) / 100n);
  const weights = { alpha: 1 + (reloads % WEIGHTS), kling: 1 + ((reloads + 1) % WEIGHTS) };
  const tokens = (keys: readonly string[], last: object = {}): object[] =>
    keys.map((key, at) => ({ key, models: ['*'], ...(at === keys.length - 1 ? last : {}) }));
  return {
    ...{ public_url: PUBLIC_URL, data_dir: '.', signing_key: SIGNING_KEY },
    gateway: {
      listen: '127.0.0.1:8080',
      batches: true,
      limits: { creates_per_minute: 6000, reads_per_minute: 60_000, body: `${BODY_BYTES_MAX}B` },
    },
    tasks: {
      listen: '127.0.0.1:9101',
      in_flight: { per_token: perToken, total: 1000 },
      poll: { first: '3s', factor: 1.5, max: '15s' },
      jobs: { lease: `${JOB_LEASE_MS / 1000}s` },
      ...describeQueue(variation),
    },
    billing: { listen: '127.0.0.1:9102' },
    media: { listen: '127.0.0.1:9103', http: '127.0.0.1:9113' },
    models: Object.fromEntries(
      Object.entries(MODELS).map(([model, prices]) => [
        model,
        { kind: 'video', duration: [5, 10], resolutions: Object.keys(prices), ratios: RATIOS },
      ]),
    ),
    channels: [
      {
        ...describeChannel(
          [ALPHA_CHANNEL, 'alpha-v2', ['video.generation', 'video.regeneration']],
          ALPHA,
          variation,
          weights.alpha,
        ),
        ...(hasCallbacks ? { callbacks: true } : {}),
      },
      describeChannel([KLING_CHANNEL, 'kling', ['video.generation']], KLING, variation, weights.kling),
      describeChannel([CHAT_CHANNEL, 'relay', ['chat']], CHAT, variation, 1),
    ],
    prices: {
      ...Object.fromEntries(
        Object.entries(MODELS).map(([model, prices]) => [
          model,
          {
            per_second: Object.fromEntries(Object.entries(prices).map(([name, nanos]) => [name, price(nanos)])),
            per_input_second: price(INPUT_NANOS_PER_SECOND),
            class_discounts: { batch: toDecimal(((100n - BATCH_PERCENT) * 1_000_000_000n) / 100n) },
          },
        ]),
      ),
      [`${REMIXED_MODEL}__regeneration`]: { per_second: price(REMIX_NANOS_PER_SECOND) },
      [CHAT_MODEL]: {
        per_million_tokens: { input: perMillion(NANOS_PER_TOKEN.input), output: perMillion(NANOS_PER_TOKEN.output) },
        hold: '0.05',
      },
    },
    accounts: [
      { id: RICH.id, credit: '100000.00', tokens: tokens(RICH.keys, tokenQueue && { queue: tokenQueue }) },
      { id: POOR.id, credit: variation.poorCredit, tokens: tokens(POOR.keys) },
      { id: REVOKED.id, credit: '100.00', tokens: tokens(REVOKED.keys) },
      { id: TEAM.id, credit: '1000.00', tokens: tokens(TEAM.keys) },
    ],
  };
}

/** The configurations of the four services, and the value that a reload gives them. */
export interface SimulatedConfigs {
  readonly value: unknown;
  readonly gateway: GatewayConfig;
  readonly tasks: TasksConfig;
  readonly billing: BillingConfig;
  readonly media: MediaConfig;
}

const known = new Map<string, SimulatedConfigs>();

/** Reads the configuration of a seed, as a start of the program or a reload does. Equal ones are read once. */
export function readSimulatedConfigs(program: Program, variation: Variation, reloads: number): SimulatedConfigs {
  const name = `${reloads % WEIGHTS} ${JSON.stringify(variation)}`;
  const read = known.get(name) ?? readText(program, JSON.stringify(describeProgram(variation, reloads)));
  known.set(name, read);
  return read;
}

/** YAML has all of JSON. */
function readText(program: Program, text: string): SimulatedConfigs {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-simulated-config-'));
  try {
    const file = path.join(folder, 'reelgate.yaml');
    writeFileSync(file, text);
    const { value } = program.programConfig.readProgramConfig({ REELGATE_CONFIG: file });
    return {
      value,
      gateway: program.gatewayConfig.gatewayConfig(value),
      tasks: program.tasksConfig.tasksConfig(value, PUBLIC_URL),
      billing: program.billingConfig.billingConfig(value),
      media: program.mediaConfig.mediaConfig(value),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
