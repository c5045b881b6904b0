import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, expect } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openIncoming } from '../src/blobs/incoming.ts';
import { addressPolicy } from '../src/fetch/addresses/address-policy.ts';
import { FetchFault } from '../src/domain/fetch-fault.ts';
import { fetchGuarded } from '../src/fetch/transfers/guarded-fetch.ts';
import type { FetchOrder, GuardedFetchDeps } from '../src/fetch/transfers/guarded-fetch.ts';
import { orderOf } from './fetch-order.ts';
import { startFakeDns } from './fake-dns.ts';
import type { FakeDns } from './fake-dns.ts';
import { startRawOrigin } from './raw-origin.ts';
import type { RawOrigin } from './raw-origin.ts';
import { TLS_AUTHORITY, startOrigin } from './origin.ts';
import type { Origin } from './origin.ts';

export type Over = Partial<FetchOrder & GuardedFetchDeps>;

export const LIMITS = {
  totalMs: 30_000,
  leastBytesPerSecond: 16,
  speedWindowMs: 15_000,
  stagesMs: { resolve: 5000, connect: 5000, headers: 10_000, body: 10_000 },
};

/** Texts that a refusal must not contain: addresses, names, ports, and messages of resolvers, sockets and parsers. */
export const TELLING = new RegExp(
  [
    /\d+\.\d+\.\d+|[0-9a-f]*::|:\d{2,5}|localhost|\.example|\.internal|\.local/,
    /\b[A-Z]{3,}_|E[A-Z]{4,}|query|socket|certificate|TLS|SSL|HTTP\/|parse/,
    /banner|elsewhere|undefined|\bat \S+:\d+/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Servers on loopback: permitted ones, a forbidden one, and the DNS that leads to them. */
export interface FetchWorld {
  readonly origin: Origin;
  readonly secure: Origin;
  readonly forbidden: Origin;
  /** Permitted too. It can send bytes that are not HTTP. */
  readonly raw: RawOrigin;
  readonly dns: FakeDns;
  /** Fetches at most 1000 bytes within `LIMITS`, unless `over` changes that. */
  fetchOf(url: string, over?: Over): Promise<{ bytes: Buffer } | { fault: FetchFault }>;
  /** The fault of a fetch. It must not name the target of the address or what was found there. */
  faultOf(url: string, over?: Over): Promise<FetchFault>;
  /** The files that ended fetches left. */
  leftBehind(): readonly string[];
  close(): Promise<void>;
}

/** The world of a test file. It closes after the tests, and no test may leave a file of a fetch. */
export async function fetchWorldOfTests(): Promise<FetchWorld> {
  const world = await openFetchWorld();
  afterAll(() => world.close());
  afterEach(() => {
    expect(world.leftBehind()).toEqual([]);
  });
  return world;
}

async function openFetchWorld(): Promise<FetchWorld> {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), TLS_AUTHORITY]);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fetch-'));
  const [origin, forbidden, secure, raw, dns] = await Promise.all([
    startOrigin(),
    startOrigin(),
    startOrigin({ tls: true }),
    startRawOrigin(),
    startFakeDns(),
  ]);
  const newId = newIds(systemClock);

  const fetchOf: FetchWorld['fetchOf'] = async (url, over = {}) => {
    const deps: GuardedFetchDeps = {
      clock: systemClock,
      log: silentLog,
      incoming: openIncoming(folder, newId),
      dnsServers: [dns.address],
      redirectsMax: 3,
      headerBytesMax: 16 * 1024,
      isOwn: () => false,
      policy: addressPolicy({
        allow: [origin, secure, raw].map(({ port }) => ({ host: '127.0.0.1', port })),
        ports: [80, 443, forbidden.port],
      }),
      ...over,
    };
    try {
      const file = await fetchGuarded(deps, { ...orderOf(url, LIMITS), ...over });
      const bytes = readFileSync(file.path);
      await file.discard();
      return { bytes };
    } catch (error) {
      if (error instanceof FetchFault) return { fault: error };
      throw error;
    }
  };
  return {
    origin,
    forbidden,
    secure,
    raw,
    dns,
    fetchOf,
    faultOf: async (url, over) => {
      const outcome = await fetchOf(url, over);
      if (!('fault' in outcome)) throw new Error('the address was fetched');
      if (TELLING.test(outcome.fault.said)) throw new Error(`the refusal reveals too much: ${outcome.fault.said}`);
      return outcome.fault;
    },
    leftBehind: () => readdirSync(folder),
    close: async () => {
      await Promise.all([origin, forbidden, secure, raw, dns].map((server) => server.close()));
      rmSync(folder, { recursive: true });
    },
  };
}
