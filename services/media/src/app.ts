import path from 'node:path';
import { publishConfigurationApplied } from '@reelgate/platform/bus/publish-service-events';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { diskCheck } from '@reelgate/platform/sql/store-checks';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { listAcceptedLinkKeys } from '@reelgate/platform/signatures';
import { describeServer, whenReachable } from '@reelgate/platform/lifecycle/when-reachable';
import { awaitSql } from '@reelgate/platform/sql/await-sql';
import { scopeCheck } from '@reelgate/platform/rpc/access';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import type { Sql } from '@reelgate/platform/sql/sql';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { Scope } from '@reelgate/proto/access/v1/access';
import { blobFolder } from './blobs/blob-folder.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { openIncoming } from './blobs/incoming.ts';
import type { IncomingFolder } from './blobs/incoming.ts';
import { openBlobs } from './blobs/open-blobs.ts';
import { isForbidden } from './blobs/open-blobs.ts';
import { storageFaults, guardBlobs, guardIncoming } from './blobs/storage-faults.ts';
import type { MediaConfig } from './config.ts';
import type { MediaObject } from './domain/media-object.ts';
import { isOwnHost } from './domain/reference.ts';
import { policyFor } from './fetch/fetcher.ts';
import { newFetcher } from './fetch/fetcher.ts';
import type { Fetcher } from './fetch/fetcher.ts';
import { newWebhookSender } from './fetch/webhooks/webhook-sender.ts';
import type { SendWebhook } from './fetch/webhooks/webhook-sender.ts';
import { isPublicHost } from './fetch/addresses/fetch-target.ts';
import { mediaBytes } from './http/media-bytes.ts';
import type { MediaBytes } from './http/media-bytes.ts';
import { blobsCheck } from './blobs/open-blobs.ts';
import { mediaRoutes } from './http/media-routes.ts';
import { collectGarbage } from './operations/garbage/collect-garbage.ts';
import { ingestResult } from './operations/results/ingest-result.ts';
import type { IngestOrder } from './operations/results/ingest-result.ts';
import { newResultCounter } from './operations/results/watch-kept-results.ts';
import { linkObject } from './operations/staging/link-object.ts';
import { singleFlight } from './operations/single-flight.ts';
import { findFfmpeg } from './thumbnails/ffmpeg/find-ffmpeg.ts';
import type { Thumbnails } from './thumbnails/thumbnails.ts';
import { ensureThumbnail, withThumbnails } from './thumbnails/thumbnails.ts';
import { hashReference, stageMedia } from './operations/staging/stage-media.ts';
import { assertConfined } from './probe/confinement/confinement-check.ts';
import { confinementOnce } from './probe/confinement/confinement.ts';
import type { Draw, ProbeParsers } from './probe/probe.ts';
import { newParsing } from './parsing.ts';
import { assertFileRoom } from './operations/files/keep-files.ts';
import { fileServiceBinding } from './rpc/file-service.ts';
import { mediaServiceBinding } from './rpc/media-service.ts';
import { operatorServiceBinding } from './rpc/operator-service.ts';
import { sqlKeptResults, sqlMediaStore } from './store/sql-media-store.ts';

const SWEEP_IDLE_MS = 30_000;
const COUNT_IDLE_MS = 1000;

export { CLAIMED_CONTENT, blobFolder, blobKeysIn, blobPath } from './blobs/blob-folder.ts';
export type { MediaBytes } from './http/media-bytes.ts';

export interface RunningMedia extends RunningService {
  readonly bytes: MediaBytes;
}

/** The parts that work outside this process: stored bytes, fetches, parsers, and requests to receivers of webhooks. */
export interface MediaBackends {
  readonly blobs: BlobStore;
  readonly incoming: IncomingFolder;
  readonly fetcher: Fetcher;
  readonly sendWebhook: SendWebhook;
  readonly parsers: { readonly references: ProbeParsers; readonly results: ProbeParsers };
  /** Draws a picture anew. */
  readonly redraw: Draw;
  readonly thumbnails: Thumbnails;
}

export interface BackendParts {
  readonly lifecycle: Lifecycle;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export type OpenBackends = (parts: BackendParts) => Promise<MediaBackends>;

export interface MediaPeers {
  /** Identifies the callers of the ports that this service shares with others. */
  readonly identify: IdentifyCaller;
  /** By default the folder or bucket of the configuration, the network, and child processes that parse. */
  readonly openBackends?: OpenBackends;
}

/** Builds the media service. One process for the files of clients starts with it. The others start on demand. */
export async function startMedia(
  config: MediaConfig,
  foundation: Foundation,
  { identify, openBackends }: MediaPeers,
): Promise<RunningMedia> {
  const lifecycle = newLifecycle(foundation.log, foundation.clock);
  // runs while the database opens
  const prepared = openBackends === undefined ? prepareBackends(config, foundation) : openBackends;
  const sql = await awaitSql({ ...config.store, dataDir: foundation.dataDir }, foundation);
  lifecycle.add('database', () => sql.close());
  try {
    const stopping = new AbortController();
    const backends = await prepared({ lifecycle, stopping: stopping.signal });
    const media = buildMedia(config, foundation, { identify, sql, lifecycle, stopping, backends });
    if (config.blobs.kind === 's3') await waitForBucket(config.blobs, media.ready, foundation);
    return media;
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
}

/** Starts to look for the confinement of the parsers, and returns the factory of the parts outside this process. */
function prepareBackends(config: MediaConfig, foundation: Foundation): OpenBackends {
  const confinement = confinementOnce(foundation.log);
  const confined = confinement();
  return async ({ lifecycle, stopping }) => {
    const { clock, log, newId } = foundation;
    const ffmpeg = findFfmpeg(config.ffmpeg, log);
    // a configured path can be wrong, so the start waits; a search on the PATH need not end first
    if (config.ffmpeg !== undefined) await ffmpeg;
    assertConfined((await confined).level, config.probe.leastConfinement);
    const folder = blobFolder(config.blobs, foundation.dataDir) ?? path.join(foundation.dataDir, 'blobs');
    const scratch = path.join(folder, 'incoming');
    const opened = await openBlobs(config.blobs, { ...foundation, folder, scratch, lifecycle });
    const faults = storageFaults(log);
    const incoming = guardIncoming(openIncoming(scratch, newId), faults);
    const parsing = { clock, log, newId, folder, lifecycle, ffmpeg, confinement, checks: foundation.checks };
    const { pools, thumbnails } = newParsing(config.probe, parsing);
    const blobs = guardBlobs(opened, faults);
    foundation.checks?.add(blobsCheck(blobs, config.blobs), diskCheck('disk of files', folder));
    return {
      blobs,
      incoming,
      fetcher: newGuardedFetcher(config, foundation, { incoming, stopping }),
      sendWebhook: openSender(config, foundation, stopping),
      parsers: pools,
      redraw: pools.references.redraw,
      thumbnails,
    };
  };
}

/** A bucket that refuses the credentials ends the start. */
async function waitForBucket(
  { address: { bucket, endpoint } }: Extract<MediaConfig['blobs'], { readonly kind: 's3' }>,
  ready: RunningMedia['ready'],
  { clock, log }: Foundation,
): Promise<void> {
  const dependency = endpoint === undefined ? `the bucket ${bucket}` : describeServer(`the bucket ${bucket}`, endpoint);
  await whenReachable(ready, { clock, log, dependency, isAway: (error) => !isForbidden(error) });
}

interface OpenedParts extends Pick<MediaPeers, 'identify'> {
  readonly sql: Sql;
  readonly lifecycle: Lifecycle;
  readonly stopping: AbortController;
  readonly backends: MediaBackends;
}

function buildMedia(
  config: MediaConfig,
  foundation: Foundation,
  { sql, lifecycle, identify, stopping, backends }: OpenedParts,
): RunningMedia {
  const { clock, log } = foundation;
  const { blobs, incoming, fetcher, sendWebhook, parsers, redraw, thumbnails } = backends;
  const deps = {
    ...foundation,
    ...config,
    linkKeys: listAcceptedLinkKeys(foundation.acceptedKeys),
    store: sqlMediaStore(sql),
    blobs,
    incoming,
    fetcher,
    parsers: parsers.references,
    thumbnails,
    stagedLifetimeMs: config.staged.lifetimeMs,
    redraw: config.staged.redraw ? redraw : undefined,
  };

  const flights = singleFlight<MediaObject>();
  const drawing = singleFlight<MediaObject | undefined>();
  const thumbnailOf = (result: MediaObject): Promise<MediaObject | undefined> =>
    drawing.run(result.id, () => ensureThumbnail(deps, result), stopping.signal);
  const ingest = withThumbnails(
    clock,
    (order: IngestOrder) => ingestResult({ ...deps, parsers: parsers.results }, order),
    thumbnailOf,
  );
  lifecycle.add('thumbnails', () => drawing.settled());
  lifecycle.add('transfers', () => flights.settled());
  lifecycle.add('fetches', () => stopping.abort());
  const sweep = startWorker({
    name: 'media-sweep',
    clock,
    log,
    idleMs: SWEEP_IDLE_MS,
    pass: () => collectGarbage(deps),
  });
  lifecycle.add('sweep', () => sweep.stop());
  const results = startWorker({
    name: 'count of results',
    clock,
    log,
    idleMs: COUNT_IDLE_MS,
    pass: newResultCounter(sqlKeptResults(sql), foundation),
  });
  lifecycle.add('count of results', () => results.stop());

  const bytes = mediaBytes({ ...deps, thumbnailOf });
  return {
    bytes,
    bindings: [
      mediaServiceBinding({
        clock,
        sendWebhook,
        assertFileRoom: (accountId, otherBytes) => assertFileRoom(deps, accountId, otherBytes),
        store: deps.store,
        blobs,
        stage: (order, signal) =>
          flights.run(
            `stage ${order.accountId} ${order.taskId} ${hashReference(order)}`,
            (left) => stageMedia(deps, { ...order, signal: left }),
            signal,
          ),
        ingest: (order, signal) => flights.run(`ingest ${order.taskId}`, () => ingest(order), signal),
        link: (object) =>
          linkObject({ ...deps, presigned: config.staged.presigned ?? isReachable(config.blobs) }, object),
      }),
      operatorServiceBinding(deps),
      fileServiceBinding(deps),
    ],
    routes: mediaRoutes({
      bytes,
      log,
      inline: config.inline,
      authorize: (authorization) => assertMayMoveBytes(identify(authorization)),
    }),
    ready: async () => {
      await blobs.check();
      return (await sql.reserved.read('SELECT 1 AS ok')).length === 1;
    },
    // the program itself applies its own settings, such as the level of the log
    reload: async () => {
      publishConfigurationApplied(foundation, 'media');
    },
    stop: () => lifecycle.stop(),
  };
}

function newGuardedFetcher(
  config: MediaConfig,
  foundation: Foundation,
  { incoming, stopping }: { readonly incoming: IncomingFolder; readonly stopping: AbortSignal },
): Fetcher {
  return newFetcher(
    {
      ...foundation,
      incoming,
      policies: { reference: policyFor(config.fetch, 'inputs'), result: policyFor(config.fetch, 'results') },
      dnsServers: config.fetch.dnsServers,
      redirectsMax: config.fetch.redirectsMax,
      headerBytesMax: config.fetch.headerBytesMax,
      isOwn: (url) => isOwnHost(url, foundation.publicUrl),
      stopping,
    },
    config,
  );
}

function openSender({ fetch, webhooks }: MediaConfig, foundation: Foundation, stopping: AbortSignal): SendWebhook {
  return newWebhookSender(
    { ...foundation, stopping },
    {
      allow: webhooks.allow,
      dnsServers: fetch.dnsServers,
      dnsMs: fetch.timeouts.dnsMs,
      headerBytesMax: fetch.headerBytesMax,
      isOwn: (url) => isOwnHost(url, foundation.publicUrl),
    },
  );
}

const assertMayMoveBytes = scopeCheck(Scope.MEDIA_INTERNAL, '/bytes');

/** Reports whether channels can reach the bucket: its address is public. */
function isReachable(blobs: MediaConfig['blobs']): boolean {
  if (blobs.kind === 'folder') return false;
  return blobs.address.publicEndpoint === undefined || isPublicHost(new URL(blobs.address.publicEndpoint));
}
