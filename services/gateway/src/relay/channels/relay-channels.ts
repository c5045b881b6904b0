import { Pool } from 'undici';
import { parseAnsweredJson } from '@reelgate/platform/bounded-json';
import type { Clock } from '@reelgate/platform/clock';
import { newAskedWaits, obeyWaits } from '@reelgate/platform/limits/asked-waits';
import type { AskedWaits } from '@reelgate/platform/limits/asked-waits';
import { readAskedWaitMs } from '@reelgate/platform/limits/read-asked-wait';
import type { Circuit } from '@reelgate/platform/limits/circuit-breaker';
import type { PeerLimits } from '@reelgate/platform/limits/peer-limits';
import { newCallerPermits, shareAmongCallers } from '@reelgate/platform/limits/caller-shares';
import type { CallerPermits } from '@reelgate/platform/limits/caller-shares';
import { listTimes, announceTakes } from '@reelgate/platform/limits/announce-takes';
import type { TakesOfSecond } from '@reelgate/platform/limits/announce-takes';
import { divideLimits } from '@reelgate/platform/limits/shared-limits';
import type { SharedLimits } from '@reelgate/platform/limits/shared-limits';
import type { IncomingHttpHeaders } from 'node:http';
import type { OpenRelayPool, RelayPool } from '../../clients/gateway-clients.ts';
import type { RelayAuth, RelayChannelSettings } from './relay-channel-config.ts';
import { readOwn } from '../../domain/read-own.ts';
import { modelHider } from '../../json-bytes/hide-model.ts';
import type { ModelHider } from '../../json-bytes/hide-model.ts';
import { newAnswerHeaderFilter } from '../headers.ts';
import type { AnswerHeaderFilter } from '../headers.ts';
import type { AnswerHeaders } from '../answers/call-sink.ts';
import type { Identities } from '../answers/scrub-error.ts';
import { newUsageRequests } from './usage-requests.ts';
import type { UsageRequests } from './usage-requests.ts';

const VERSION = /\/v\d\w*(?=\/|$)/;
const CONNECT_TIMEOUT_MS = 10_000;
/** Shorter than most upstreams keep an idle connection, so that few calls use a connection that is being closed. */
const KEEP_ALIVE_MS = 4000;
/**
 * The bytes that a connection reads ahead while its answer waits for the hold or for a slow client. Each small event of
 * a stream takes a tick of the event loop, which the hold needs. A longer piece is still read immediately.
 */
const READ_AHEAD_BYTES = 2048;
const CONNECTION = { timeout: CONNECT_TIMEOUT_MS, highWaterMark: READ_AHEAD_BYTES };

/** A channel with its state while the gateway runs; all its endpoints share it. */
export interface RelayChannel {
  readonly settings: RelayChannelSettings;
  readonly pool: RelayPool;
  readonly circuit: Circuit;
  /** Those of all replicas, as far as they share them. */
  readonly limits: PeerLimits;
  /** The credential as a header. */
  readonly credential: { readonly name: string; readonly value: string };
  /** The names that would identify the upstream in an answer, by the public id of the model. */
  readonly findIdentities: FindIdentities;
  readonly usageRequests: UsageRequests;
  /** The upstream's path for one of the gateway's paths. */
  toUpstreamPath(path: string): string;
  /** Bounds the calls and sessions of this process that run on it. The accounts that want permits share them. */
  readonly permits: CallerPermits;
  /** Lets the channel wait as long as an error answer of its upstream asks. `limits` obey that. */
  obeyAnswer(answer: RefusingAnswer): void;
}

/** An error answer of an upstream, with its body as far as it was read. */
export interface RefusingAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer | undefined;
}

/** The channels of the synchronous routes, as the current configuration lists them. */
export interface RelayChannels {
  all(): readonly RelayChannel[];
  /** Reports whether an enabled channel has this endpoint and model, paused or not. */
  knows(endpoint: string, model: string): boolean;
  /** The enabled channels with this endpoint and model, paused ones included. */
  listed(endpoint: string, model: string): readonly RelayChannel[];
  /** The enabled channels with this endpoint and model that are not paused, in the order in which they are tried. */
  serving(endpoint: string, model: string): readonly RelayChannel[];
  /** Counts the calls of earlier processes in the minute of each channel. */
  learnCalls(calls: readonly TakesOfSecond[]): void;
  /** Takes a new configuration. Calls on a removed or changed channel run to their end. */
  replace(settings: readonly RelayChannelSettings[]): void;
  close(): Promise<void>;
}

export interface RelayChannelsOptions {
  readonly clock: Clock;
  /** From 0 to 1, exclusive. */
  readonly chance: () => number;
  /** The limits that replicas share, undefined if this process counts alone. */
  readonly limits?: SharedLimits;
  /** Reports whether an operator has paused a channel. Without it, no channel is paused. */
  readonly isPaused?: (id: string) => boolean;
  /** The waits that upstreams ask for. By default, they are not shared with other processes. */
  readonly waits?: AskedWaits;
  /** Called before the calls of a channel are sent. By default, no other process is informed. */
  readonly announceCalls?: (calls: TakesOfSecond) => void;
  /** By default over the network. */
  readonly openPool?: OpenRelayPool | undefined;
}

export function newRelayChannels(
  settings: readonly RelayChannelSettings[],
  {
    clock,
    chance,
    limits = divideLimits(clock),
    isPaused = () => false,
    waits = newAskedWaits(clock),
    announceCalls = () => undefined,
    openPool = openRelayPool,
  }: RelayChannelsOptions,
): RelayChannels {
  const startedAt = clock.now();
  let current = new Map<string, { readonly channel: RelayChannel; readonly made: string }>();
  /** The channels by endpoint and model. */
  let index: Index = new Map();
  const leaving = new Set<Promise<void>>();
  const leave = ({ pool }: RelayChannel): void => {
    const closed: Promise<void> = pool
      .close()
      .catch(() => undefined)
      .finally(() => leaving.delete(closed));
    leaving.add(closed);
  };
  const replace = (next: readonly RelayChannelSettings[]): void => {
    const before = current;
    current = new Map(
      next.map((one) => {
        const made = JSON.stringify({ ...one, apiKey: one.apiKey.reveal() });
        const known = before.get(one.id);
        return [
          one.id,
          known?.made === made
            ? known
            : { channel: newChannel(one, { clock, limits, waits, announceCalls, openPool }), made },
        ];
      }),
    );
    for (const [id, { channel }] of before) if (current.get(id)?.channel !== channel) leave(channel);
    index = indexChannels([...current.values()].map(({ channel }) => channel));
  };
  replace(settings);
  const list = (endpoint: string, model: string): readonly RelayChannel[] => index.get(endpoint)?.get(model) ?? [];
  return {
    all: () => [...current.values()].map(({ channel }) => channel),
    knows: (endpoint, model) => index.get(endpoint)?.has(model) === true,
    listed: list,
    serving: (endpoint, model) => {
      const listed = list(endpoint, model);
      const isAnyPaused = listed.some(({ settings }) => isPaused(settings.id));
      const channels = isAnyPaused ? listed.filter(({ settings }) => !isPaused(settings.id)) : listed;
      return channels.length < 2 ? channels : orderChannels(channels, chance);
    },
    learnCalls: (calls) => {
      for (const [id, { channel }] of current) {
        // this process has counted its own calls, and hardly any fell into the second of its start
        const earlier = calls.filter(({ peer, at }) => peer === id && at <= startedAt);
        channel.limits.learnTakes(listTimes(earlier, channel.settings.requestsPerMinute));
      }
    },
    replace,
    close: async () => {
      await Promise.all([...current.values()].map(({ channel }) => channel.pool.destroy()));
      await Promise.all(leaving);
    },
  };
}

type NewChannelDeps = Required<Pick<RelayChannelsOptions, 'clock' | 'limits' | 'waits' | 'announceCalls'>> & {
  readonly openPool: OpenRelayPool;
};

function newChannel(settings: RelayChannelSettings, deps: NewChannelDeps): RelayChannel {
  const { clock, limits: shared, waits, announceCalls, openPool } = deps;
  const { origin, pathname } = new URL(settings.baseUrl);
  const permits = newCallerPermits(clock, { permits: settings.inFlightMax, replicas: shared.replicas });
  const peer = shared.forPeer(settings.id, {
    perMinute: settings.requestsPerMinute,
    inFlight: { most: settings.inFlightMax, inUse: () => permits.inUse() },
  });
  const divided = shareAmongCallers(peer, {
    clock,
    perMinute: settings.requestsPerMinute,
    replicas: shared.replicas,
  });
  const announced = announceTakes(divided, clock, (takes) => announceCalls({ peer: settings.id, ...takes }));
  const limits = obeyWaits(announced, () => waits.waitMs(settings.id, 'work'));
  return {
    settings,
    limits,
    circuit: limits.circuit,
    permits: {
      ...permits,
      release: (accountId) => {
        permits.release(accountId);
        limits.ended();
      },
    },
    credential: CREDENTIALS[settings.auth](settings.apiKey.reveal()),
    toUpstreamPath: upstreamPath(pathname),
    usageRequests: newUsageRequests(clock, settings.asksUsage),
    findIdentities: cacheIdentities(settings),
    pool: openPool(origin, settings),
    obeyAnswer: ({ status, headers, body }) => {
      const waitMs = readAskedWaitMs({ status, headers, body: readErrorJson(body) }, clock.now());
      waits.ask(settings.id, ['work'], waitMs);
    },
  };
}

function readErrorJson(body: Buffer | undefined): unknown {
  try {
    return body === undefined ? undefined : parseAnsweredJson(body);
  } catch {
    return undefined;
  }
}

const openRelayPool: OpenRelayPool = (origin, { firstByteTimeoutMs, idleTimeoutMs }) =>
  new Pool(origin, {
    allowH2: false,
    connect: CONNECTION,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: firstByteTimeoutMs,
    bodyTimeout: idleTimeoutMs,
  });

const CREDENTIALS: Readonly<Record<RelayAuth, (key: string) => RelayChannel['credential']>> = {
  bearer: (key) => ({ name: 'authorization', value: `Bearer ${key}` }),
  'x-api-key': (key) => ({ name: 'x-api-key', value: key }),
  'x-goog-api-key': (key) => ({ name: 'x-goog-api-key', value: key }),
};

/** By endpoint, then by model. */
type Index = ReadonlyMap<string, ReadonlyMap<string, readonly RelayChannel[]>>;

function indexChannels(channels: readonly RelayChannel[]): Index {
  const index = new Map<string, Map<string, RelayChannel[]>>();
  for (const channel of channels.filter(({ settings }) => settings.enabled)) {
    for (const endpoint of channel.settings.endpoints) {
      const byModel = index.get(endpoint) ?? new Map<string, RelayChannel[]>();
      index.set(endpoint, byModel);
      for (const model of Object.keys(channel.settings.models))
        byModel.set(model, [...(byModel.get(model) ?? []), channel]);
    }
  }
  return index;
}

/** By priority; equal priorities in a random order by weight. */
function orderChannels(channels: readonly RelayChannel[], chance: () => number): readonly RelayChannel[] {
  const drawn = channels.map((channel) => ({
    channel,
    lot: chance() ** (1 / Math.max(channel.settings.weight, Number.EPSILON)),
  }));
  drawn.sort((a, b) => b.channel.settings.priority - a.channel.settings.priority || b.lot - a.lot);
  return drawn.map(({ channel }) => channel);
}

/**
 * Puts the gateway's paths behind an upstream's base path. A base with a version, as SDKs expect it (`https://host/v1`,
 * `https://host/api/v3`, `https://host/v1beta/openai`), replaces the version of the path.
 */
export function upstreamPath(basePath: string): (path: string) => string {
  const base = basePath.replace(/\/+$/, '');
  const isVersioned = VERSION.test(base);
  return (path) => (isVersioned ? `${base}${path.replace(VERSION, '')}` : `${base}${path}`);
}

/** A shorter text would match by accident. */
const KEY_LENGTH_MIN = 8;
const MODEL_LENGTH_MIN = 4;

/** The names that identify the upstream of a model, and the functions that hide them. */
export interface ModelIdentities {
  readonly upstreamModel: string;
  readonly inErrors: Identities;
  readonly hider: ModelHider;
  /** The headers of an answer without those that name the upstream. */
  headersBack(headers: IncomingHttpHeaders): AnswerHeaders;
}

export type FindIdentities = (publicModel: string) => ModelIdentities;

/** Caches the identities of a channel's models. The configuration bounds their number. */
export function cacheIdentities(settings: RelayChannelSettings): FindIdentities {
  const known = new Map<string, ModelIdentities>();
  const filter = newAnswerHeaderFilter();
  return (publicModel) => {
    let identities = known.get(publicModel);
    if (identities === undefined) known.set(publicModel, (identities = buildIdentities(settings, publicModel, filter)));
    return identities;
  };
}

function buildIdentities(
  { baseUrl, apiKey, models }: RelayChannelSettings,
  publicModel: string,
  filter: AnswerHeaderFilter,
): ModelIdentities {
  const upstreamModel = readOwn(models, publicModel) ?? publicModel;
  const { host, hostname } = new URL(baseUrl);
  const key = apiKey.reveal();
  const hidden = [host, hostname, ...(key.length >= KEY_LENGTH_MIN ? [key] : [])];
  const isTelling = upstreamModel !== publicModel && upstreamModel.length >= MODEL_LENGTH_MIN;
  const inHeaders = isTelling ? [...hidden, upstreamModel] : hidden;
  return {
    upstreamModel,
    inErrors: { publicModel, upstreamModel, hidden },
    hider: modelHider(publicModel, upstreamModel),
    headersBack: (headers) => filter(headers, inHeaders),
  };
}
