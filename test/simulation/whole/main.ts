import { systemClock } from '@reelgate/platform/clock';
import { computeCommitSeed, computeDaySeed, readCommit } from '../../run/commit-seed.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { plantBug } from './plant-bug.ts';
import type { SeedToPlay } from './play-seeds.ts';
import { BadOption, readOptions } from './read-options.ts';
import type { NightOptions, SimulateOptions } from './read-options.ts';
import { runNight } from './run-night.ts';

/** The new seeds that run beside the kept ones. With them, a check of a change stays far below a minute. */
const NEW_SEEDS = 3;

const readRealTime = process.hrtime.bigint;
const options = readWords();
process.exit((await simulate(options)) ? 0 : 1);

function readWords(): SimulateOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof BadOption)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

/** Does what the command line asks for. Returns whether every rule held. */
async function simulate(asked: SimulateOptions): Promise<boolean> {
  const commit = readCommit();
  if (asked.mode === 'night') return simulateNight(asked, commit);
  // the product is loaded only now, so that a bug can be planted into its source
  const assertPlanted = asked.bug === undefined ? () => undefined : plantBug(asked.bug.planted);
  const { playSeeds, shrinkSeed } = await import('./play-seeds.ts');
  const { measureSurvival } = await import('./measure-survival.ts');
  const { loadProgram } = await import('./program.ts');
  const program = await loadProgram();
  assertPlanted();
  let isStopping = false;
  // who started this program ends it after a seed
  if (asked.asJson)
    process.on('SIGINT', () => {
      isStopping = true;
    });
  const playing = { ...asked, program, commit, readRealTime, isStopping: () => isStopping };
  if (asked.mode === 'shrink') return shrinkSeed(playing, asked.seed);
  if (asked.mode === 'survival') return measureSurvival(playing, asked.seed);
  if (asked.mode === 'seeds') return playSeeds(playing, listSeeds(asked.seed, asked.seeds ?? 1, asked.without));
  const first = asked.seed ?? computeCommitSeed(commit);
  return playSeeds(playing, [...KEPT_SEEDS, ...listSeeds(first, asked.seeds ?? NEW_SEEDS, asked.without)]);
}

/** The first interrupt ends the night after the seeds that run, the second one at once. */
function simulateNight(asked: NightOptions, commit: string): Promise<boolean> {
  const [stop, kill] = [new AbortController(), new AbortController()];
  process.on('SIGINT', () => {
    if (stop.signal.aborted) kill.abort();
    else stop.abort();
  });
  return runNight({
    ...{ options: asked, commit, clock: systemClock, stop, kill: kill.signal },
    firstSeed: asked.seed ?? computeDaySeed(),
    print: (text) => {
      console.log(text);
    },
  });
}

function listSeeds(first: number, count: number, without: ReadonlySet<string>): readonly SeedToPlay[] {
  return Array.from({ length: count }, (_none, at) => ({ seed: first + at, without: [...without] }));
}
