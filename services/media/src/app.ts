import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { openLifecycle } from '@reelgate/platform/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle';
import { openSql } from '@reelgate/platform/open-sql';
import { deriveSecret } from '@reelgate/platform/secret';
import type { Sql } from '@reelgate/platform/sql';
import { startWorker } from '@reelgate/platform/worker';
import { openDiskBlobs } from './blobs/disk-blobs.ts';
import { openIncoming } from './blobs/incoming.ts';
import type { MediaConfig } from './config.ts';
import type { MediaObject } from './domain/media-object.ts';
import { isOwnHost } from './domain/reference.ts';
import { addressPolicy } from './fetch/address-policy.ts';
import { openFetcher } from './fetch/fetcher.ts';
import { mediaBytes } from './http/media-bytes.ts';
import type { MediaBytes } from './http/media-bytes.ts';
import { mediaRoutes } from './http/routes.ts';
import { collectGarbage } from './operations/collect-garbage.ts';
import { ingestResult } from './operations/ingest-result.ts';
import { singleFlight } from './operations/single-flight.ts';
import { nameOf, stageMedia } from './operations/stage-media.ts';
import { openProbePool } from './probe/probe-pool.ts';
import { mediaServiceBinding } from './rpc/media-service.ts';
import { sqlMediaStore } from './store/sql-media-store.ts';

const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));
const SWEEP_IDLE_MS = 30_000;

export type { MediaBytes } from './http/media-bytes.ts';

export interface RunningMedia extends RunningService {
  readonly bytes: MediaBytes;
}

/** Builds the media service. The parsers are loaded when the first file comes. */
export async function startMedia(config: MediaConfig, foundation: Foundation): Promise<RunningMedia> {
  const lifecycle = openLifecycle(foundation.log);
  const sql = await openSql({ url: config.database?.reveal(), dataDir: foundation.dataDir, name: 'media', migrations: MIGRATIONS });
  lifecycle.add('database', () => sql.close());
  try {
    return build(config, foundation, { sql, lifecycle });
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

interface Opened { readonly sql: Sql; readonly lifecycle: Lifecycle }

function build(config: MediaConfig, foundation: Foundation, { sql, lifecycle }: Opened): RunningMedia {
  const { clock, log, newId, publicUrl, signingKey } = foundation;
  const stopping = new AbortController();
  const folder = config.blobs ?? path.join(foundation.dataDir, 'blobs');
  const blobs = openDiskBlobs(folder);
  const incoming = openIncoming(path.join(folder, 'incoming'), newId);
  const pool = openProbePool({ clock, log, ...config.probe });
  lifecycle.add('parsers', () => pool.stop());
  const fetcher = openFetcher({
    ...foundation, incoming, policy: addressPolicy(config.fetch), dnsServers: config.fetch.dnsServers, redirectsMax: config.fetch.redirectsMax,
    isOwn: (url) => isOwnHost(url, publicUrl), stopping: stopping.signal,
  }, config);
  const deps = { ...foundation, ...config, store: sqlMediaStore(sql), blobs, incoming, fetcher, probe: pool.probe };

  const flights = singleFlight<MediaObject>();
  lifecycle.add('transfers', () => flights.settled());
  lifecycle.add('fetches', () => { stopping.abort(); });
  const sweep = startWorker({ name: 'media-sweep', clock, log, idleMs: SWEEP_IDLE_MS, pass: () => collectGarbage(deps) });
  lifecycle.add('sweep', () => sweep.stop());

  const bytes = mediaBytes(deps);
  return {
    bytes,
    bindings: [mediaServiceBinding({
      clock, store: deps.store,
      stage: (order, signal) => flights.run(`stage ${order.accountId} ${order.taskId} ${nameOf(order)}`, () => stageMedia(deps, order), signal),
      ingest: (order, signal) => flights.run(`ingest ${order.taskId}`, () => ingestResult(deps, order), signal),
    })],
    routes: mediaRoutes({ bytes, log, inline: config.inline, serviceKey: deriveSecret(signingKey, 'service-calls') }),
    ready: async () => (await sql.read('SELECT 1 AS ok')).length === 1,
    reload: async () => undefined,
    stop: () => lifecycle.stop(),
  };
}
