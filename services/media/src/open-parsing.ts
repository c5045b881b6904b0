import path from 'node:path';
import type { Clock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import type { NewId } from '@reelgate/platform/ids';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Log } from '@reelgate/platform/log';
import type { MediaConfig } from './config.ts';
import { confinementCheck } from './probe/confinement/confinement-check.ts';
import type { Confinement } from './probe/confinement/confinement.ts';
import { openProbePools } from './probe/pool/probe-pools.ts';
import type { ProbePools } from './probe/pool/probe-pools.ts';
import { drawThumbnails } from './thumbnails/draw-thumbnails.ts';
import type { Thumbnails } from './thumbnails/draw-thumbnails.ts';
import type { Ffmpeg } from './thumbnails/ffmpeg/find-ffmpeg.ts';
import { openFrameExtractor } from './thumbnails/ffmpeg/frame-extractor.ts';

interface ParsingDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly checks: Foundation['checks'];
  readonly folder: string;
  readonly lifecycle: Lifecycle;
  readonly ffmpeg: Promise<Ffmpeg | undefined>;
  readonly confinement: () => Promise<Confinement>;
}

/** Opens the processes that parse files, and the thumbnails that are drawn with them. */
export function openParsing(
  config: MediaConfig['probe'],
  { folder, lifecycle, ffmpeg, checks, ...deps }: ParsingDeps,
): { readonly pools: ProbePools; readonly thumbnails: Thumbnails } {
  const parsing = { ...deps, ...config, folder: path.join(folder, 'parsing') };
  const pools = openProbePools(parsing);
  lifecycle.add('parsers', () => pools.stop());
  const extractor = ffmpeg.then((found) => found && openFrameExtractor({ ...parsing, program: found.program }));
  lifecycle.add('ffmpeg', async () => (await extractor)?.stop());
  checks?.add(confinementCheck(deps.confinement));
  return { pools, thumbnails: drawThumbnails(pools.thumbnails, extractor) };
}
