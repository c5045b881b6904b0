import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openIncoming } from '../src/blobs/incoming.ts';
import { addressPolicy } from '../src/fetch/addresses/address-policy.ts';
import { FetchFault } from '../src/fetch/fetch-fault.ts';
import { guardedFetch } from '../src/fetch/transfers/guarded-fetch.ts';
import type { FetchOrder, GuardedFetchDeps } from '../src/fetch/transfers/guarded-fetch.ts';
import { anyPermits } from './any-permits.ts';
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

/** Addresses, names, ports of servers that were made up, and the words of resolvers, sockets, parsers and servers. */
export const TELLING =
  /\d+\.\d+\.\d+|[0-9a-f]*::|:\d{2,5}|localhost|\.example|\.internal|\.local|\b[A-Z]{3,}_|E[A-Z]{4,}|query|socket|certificate|TLS|SSL|HTTP\/|parse|banner|elsewhere|undefined|\bat \S+:\d+/;

/** Servers on loopback: two that may be dialled, one that may not, and the DNS that leads to them. */
export interface FetchWorld {
  readonly origin: Origin;
  readonly secure: Origin;
  readonly forbidden: Origin;
  /** May be dialled too; it need not speak HTTP. */
  readonly raw: RawOrigin;
  readonly dns: FakeDns;
  /** At most 1000 bytes within `LIMITS`, unless it says otherwise. */
  fetchOf(url: string, over?: Over): Promise<{ bytes: Buffer } | { fault: FetchFault }>;
  /** Its fault, which must not name the target of the address or what was found there. */
  faultOf(url: string, over?: Over): Promise<FetchFault>;
  /** Files of fetches that have ended. */
  leftBehind(): readonly string[];
  close(): Promise<void>;
}

export async function openFetchWorld(): Promise<FetchWorld> {
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
      const file = await guardedFetch(deps, {
        url,
        bytesMax: 1000,
        limits: LIMITS,
        resume: false,
        acceptType: () => undefined,
        permits: anyPermits(),
        ...over,
      });
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
      if (!('fault' in outcome)) throw new Error('it was fetched');
      if (TELLING.test(outcome.fault.said)) throw new Error(`it tells what it should not: ${outcome.fault.said}`);
      return outcome.fault;
    },
    leftBehind: () => readdirSync(folder),
    close: async () => {
      await Promise.all([origin, forbidden, secure, raw, dns].map((server) => server.close()));
      rmSync(folder, { recursive: true });
    },
  };
}
