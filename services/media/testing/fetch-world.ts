import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { openIncoming } from '../src/blobs/incoming.ts';
import { addressPolicy } from '../src/fetch/address-policy.ts';
import { FetchFault } from '../src/fetch/fetch-fault.ts';
import { guardedFetch } from '../src/fetch/guarded-fetch.ts';
import type { FetchOrder, GuardedFetchDeps } from '../src/fetch/guarded-fetch.ts';
import { startFakeDns } from './fake-dns.ts';
import type { FakeDns } from './fake-dns.ts';
import { TLS_AUTHORITY, startOrigin } from './origin.ts';
import type { Origin } from './origin.ts';

export type Over = Partial<FetchOrder & GuardedFetchDeps>;

export const LIMITS = { totalMs: 30_000, leastBytesPerSecond: 16, stagesMs: { resolve: 5000, connect: 5000, headers: 10_000, body: 10_000 } };

/** Servers on loopback: two that may be dialled, one that may not, and the DNS that leads to them. */
export interface FetchWorld {
  readonly origin: Origin;
  readonly secure: Origin;
  readonly forbidden: Origin;
  readonly dns: FakeDns;
  /** At most 1000 bytes within `LIMITS`, unless it says otherwise. */
  fetchOf(url: string, over?: Over): Promise<{ bytes: Buffer } | { fault: FetchFault }>;
  faultOf(url: string, over?: Over): Promise<FetchFault>;
  /** Files of fetches that have ended. */
  leftBehind(): readonly string[];
  close(): Promise<void>;
}

export async function openFetchWorld(): Promise<FetchWorld> {
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), TLS_AUTHORITY]);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fetch-'));
  const [origin, forbidden, secure, dns] = await Promise.all([startOrigin(), startOrigin(), startOrigin({ tls: true }), startFakeDns()]);
  const newId = newIds(systemClock);

  const fetchOf: FetchWorld['fetchOf'] = async (url, over = {}) => {
    const deps: GuardedFetchDeps = {
      clock: systemClock, log: silentLog, incoming: openIncoming(folder, newId), dnsServers: [dns.address], redirectsMax: 3, isOwn: () => false,
      policy: addressPolicy({ allow: [origin, secure].map(({ port }) => ({ host: '127.0.0.1', port })), ports: [80, 443, forbidden.port] }), ...over,
    };
    try {
      const file = await guardedFetch(deps, { url, bytesMax: 1000, limits: LIMITS, resume: false, acceptType: () => undefined, signal: new AbortController().signal, ...over });
      const bytes = readFileSync(file.path);
      await file.discard();
      return { bytes };
    } catch (error) {
      if (error instanceof FetchFault) return { fault: error };
      throw error;
    }
  };
  return {
    origin, forbidden, secure, dns, fetchOf,
    faultOf: async (url, over) => {
      const outcome = await fetchOf(url, over);
      if ('fault' in outcome) return outcome.fault;
      throw new Error('it was fetched');
    },
    leftBehind: () => readdirSync(folder),
    close: async () => {
      await Promise.all([origin, forbidden, secure, dns].map((server) => server.close()));
      rmSync(folder, { recursive: true });
    },
  };
}
