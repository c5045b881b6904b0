import { readdirSync } from 'node:fs';
import path from 'node:path';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import { signPath, linkKey } from '@reelgate/platform/signatures';
import { callKey } from '../../../deploy/program/keys/identities.ts';
import type { Program } from '../../harness/program.ts';

const INGEST_TIMEOUT_MS = 300_000;
const LINK_SECONDS = 86_400;

export interface KeptVideo {
  /** The path and query of a signed link. */
  readonly target: string;
  /** The file in which the program keeps the video. */
  readonly file: string;
}

let tasks = 0;

/** Makes a task whose result a running program fetches and keeps. */
export async function keepVideo({ config }: Program, url: string): Promise<KeptVideo> {
  const key = new Secret(config.signing_key);
  const connection = connectGrpc(config.media.listen, callKey('tasks', 'media', key));
  try {
    tasks += 1;
    const { result } = await connection
      .client(MediaService)
      .ingestResult({ accountId: 'demo', taskId: `task_bench_${tasks}`, url }, { timeoutMs: INGEST_TIMEOUT_MS });
    if (result === undefined) throw new Error('nothing was kept');
    const link = `/ximg/${result.object}.mp4`;
    const blobs = path.join(config.data_dir, 'blobs');
    const folder = path.join(blobs, result.sha256.slice(0, 2));
    const file = path.join(
      folder,
      readdirSync(folder).find((name) => name.startsWith(result.sha256))!,
    );
    return { file, target: `${link}?${signPath(linkKey(key), link, Math.floor(Date.now() / 1000) + LINK_SECONDS)}` };
  } finally {
    connection.close();
  }
}
