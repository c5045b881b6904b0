import path from 'node:path';
import type { Clock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import type { NewId } from '@reelgate/platform/ids';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Log } from '@reelgate/platform/log';
import type { MediaConfig } from './config.ts';
import { confinementCheck } from './probe/confinement/confinement-check.ts';
import type { Confinement } from './probe/confinement/confinement.ts';
import { drawThumbnails } from './thumbnails/thumbnails.ts';
import type { Thumbnails } from './thumbnails/thumbnails.ts';
import type { Ffmpeg } from './thumbnails/ffmpeg/find-ffmpeg.ts';
import { newFrameExtractor } from './thumbnails/ffmpeg/frame-extractor.ts';
import { newParsers } from './probe/parsers/parsers.ts';
import type { ParsersOptions } from './probe/parsers/parsers.ts';
import { newProbePool } from './probe/pool/probe-pool.ts';
import type { ProbePool, ProbePoolOptions } from './probe/pool/probe-pool.ts';

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
export function newParsing(
  config: MediaConfig['probe'],
  { folder, lifecycle, ffmpeg, checks, ...deps }: ParsingDeps,
): { readonly pools: ProbePools; readonly thumbnails: Thumbnails } {
  const parsing = { ...deps, ...config, folder: path.join(folder, 'parsing') };
  const pools = newProbePools(parsing);
  lifecycle.add('parsers', () => pools.stop());
  const extractor = ffmpeg.then((found) => found && newFrameExtractor({ ...parsing, program: found.program }));
  lifecycle.add('ffmpeg', async () => (await extractor)?.stop());
  checks?.add(confinementCheck(deps.confinement));
  return { pools, thumbnails: drawThumbnails(pools.thumbnails, extractor) };
}

/** Results arrive by the hundreds, and most are small to parse. */
const RESULT_FILES_MAX = 8;

interface ProbePoolsOptions extends ParsersOptions, Omit<ProbePoolOptions, 'parsers' | 'warm' | 'filesMax'> {
  /** The number of workers that parse results. */
  readonly resultWorkers: number;
}

/** Neither client inputs nor thumbnails delay results: each of the three kinds has its own processes. */
interface ProbePools {
  readonly references: ProbePool;
  readonly results: ProbePool;
  readonly thumbnails: ProbePool;
  stop(): Promise<void>;
}

function newProbePools(options: ProbePoolsOptions): ProbePools {
  const parsers = newParsers(options);
  const pools = {
    references: newProbePool({ ...options, parsers, filesMax: 1, warm: 1 }),
    results: newProbePool({
      ...options,
      parsers,
      workers: options.resultWorkers,
      filesMax: RESULT_FILES_MAX,
      warm: 0,
    }),
    thumbnails: newProbePool({ ...options, parsers, workers: 1, filesMax: 1, warm: 0 }),
  };
  pools.references.warm();
  return {
    ...pools,
    stop: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.stop()));
    },
  };
}
