import { openParsers } from '../parsers/parsers.ts';
import type { ParsersOptions } from '../parsers/parsers.ts';
import { openProbePool } from './probe-pool.ts';
import type { ProbePool, ProbePoolOptions } from './probe-pool.ts';

/** Results come hundreds at once, and most are small to parse. */
const RESULT_FILES_MAX = 8;

export interface ProbePoolsOptions extends ParsersOptions, Omit<ProbePoolOptions, 'parsers' | 'warm' | 'filesMax'> {
  /** The number of workers that parse results. */
  readonly resultWorkers: number;
}

/** Neither client inputs nor thumbnails delay results: each of the three kinds has its own processes. */
export interface ProbePools {
  readonly references: ProbePool;
  readonly results: ProbePool;
  readonly thumbnails: ProbePool;
  stop(): Promise<void>;
}

export function openProbePools(options: ProbePoolsOptions): ProbePools {
  const parsers = openParsers(options);
  const pools = {
    references: openProbePool({ ...options, parsers, filesMax: 1, warm: 1 }),
    results: openProbePool({
      ...options,
      parsers,
      workers: options.resultWorkers,
      filesMax: RESULT_FILES_MAX,
      warm: 0,
    }),
    thumbnails: openProbePool({ ...options, parsers, workers: 1, filesMax: 1, warm: 0 }),
  };
  pools.references.warm();
  return {
    ...pools,
    stop: async () => {
      await Promise.all(Object.values(pools).map((pool) => pool.stop()));
    },
  };
}
