import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Scope } from '@reelgate/proto/access/v1/access';
import { FileService } from '@reelgate/proto/media/v1/file_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { OperatorService } from '@reelgate/proto/media/v1/operator_service';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { readConfigFile } from '@reelgate/platform/config/config-file';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { identifyAmong } from '@reelgate/platform/rpc/callers';
import { startConnectServer } from '@reelgate/platform/rpc/connect/server';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import { startMedia } from '../src/app.ts';
import type { RunningMedia } from '../src/app.ts';
import { mediaConfig, mediaSchema } from '../src/config.ts';
import type { MediaConfig } from '../src/config.ts';

const PUBLIC_URL = 'https://gate.example';
const SERVICE_KEY = 'key-of-a-service';
/** The key of a known caller without the scope for bytes. */
export const REPORTING_KEY = 'key-of-reporting';
export const SIGNING_KEY = new Secret('signing-key-of-the-tests');

export interface MediaUnderTest {
  readonly media: RunningMedia;
  readonly client: Client<typeof MediaService>;
  readonly operator: Client<typeof OperatorService>;
  readonly files: Client<typeof FileService>;
  readonly metrics: Metrics;
  /** The address of its HTTP port. */
  readonly url: string;
  readonly serviceKey: string;
  readonly folder: string;
  /** The names of the stored blobs. */
  blobs(): readonly string[];
  /** Stops the service as a program would, and starts another on the same data. */
  restart(): Promise<MediaUnderTest>;
  close(): Promise<void>;
}

export interface MediaOptions {
  readonly clock?: Clock;
  /** The `media` section of the configuration. */
  readonly section?: object;
  /** The `webhooks` section of the configuration. */
  readonly webhooks?: object;
  readonly folder?: string;
}

/** The media service alone, with its HTTP port open, on a data folder of its own. */
export async function startMediaUnderTest({
  clock = systemClock,
  section = {},
  webhooks = {},
  folder = mkdtempSync(path.join(os.tmpdir(), 'media-')),
}: MediaOptions = {}): Promise<MediaUnderTest> {
  const metrics = newMetrics(false);
  const identify = identifyAmong([
    { ...aCaller({ name: 'gateway' }), key: new Secret(SERVICE_KEY) },
    {
      ...aCaller({ name: 'reporting', scopes: new Set([Scope.TASKS_READ, Scope.OPERATOR]) }),
      key: new Secret(REPORTING_KEY),
    },
  ]);
  const media = await startMedia(
    mediaConfigOf(section, folder, webhooks),
    {
      clock,
      metrics,
      random: systemRandom,
      newId: newIds(clock),
      log: silentLog,
      bus: newLocalBus(clock, silentLog),
      signingKey: SIGNING_KEY,
      acceptedKeys: acceptOnly(SIGNING_KEY),
      tracing: NO_TRACING,
      publicUrl: PUBLIC_URL,
      dataDir: folder,
    },
    { identify },
  );
  const [binding, operator, files] = media.bindings;
  if (binding === undefined || operator === undefined || files === undefined) throw new Error('media offers no RPCs');
  const server = await startConnectServer({
    listen: { host: '127.0.0.1', port: 0 },
    bindings: media.bindings,
    identify,
    log: silentLog,
    routes: media.routes,
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await media.stop();
  };
  return {
    media,
    metrics,
    folder,
    client: directClient(MediaService, binding, aCaller()),
    operator: directClient(OperatorService, operator, aCaller()),
    files: directClient(FileService, files, aCaller()),
    url: `http://127.0.0.1:${server.port}`,
    serviceKey: SERVICE_KEY,
    blobs: () => filesUnder(path.join(folder, 'blobs')),
    restart: async () => {
      await stop();
      return startMediaUnderTest({ clock, section, webhooks, folder });
    },
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function mediaConfigOf(section: object, folder = os.tmpdir(), webhooks = {}): MediaConfig {
  const own = mkdtempSync(path.join(folder, 'config-'));
  try {
    const file = path.join(own, 'reelgate.yaml');
    writeFileSync(file, JSON.stringify({ media: section, webhooks }));
    return mediaConfig(readConfigFile(file, { type: 'object', properties: mediaSchema }, {}).value);
  } finally {
    rmSync(own, { recursive: true });
  }
}

function filesUnder(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}
