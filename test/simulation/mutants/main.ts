// `npm run mutants`: changes one place of the product at a time, and finds out whether a test or a seed notices.
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { BadOption } from '../whole/read-options.ts';
import { computeEnd } from '../whole/run-night.ts';
import { drawMutants, listProductMutants } from './draw-mutants.ts';
import { openReport } from './judgements.ts';
import type { Mutant } from './mutant.ts';
import { readMutantsOptions } from './read-mutants-options.ts';
import type { MutantsOptions } from './read-mutants-options.ts';
import { openCopies } from './repository-copy.ts';
import { runMutants } from './run-mutants.ts';

const KEPT = path.resolve(import.meta.dirname, '../../../.simulation/mutants');
/** The new seeds of two draws do not meet. */
const SEEDS_OF_A_DRAW = 100;

const options = readWords();
const mutants = chooseMutants(options);
const [stop, kill] = [new AbortController(), new AbortController()];
const copies = openCopies();
process.on('SIGINT', endEarly).on('SIGTERM', endEarly);
const endsAt = computeEnd(systemClock.now(), { hours: undefined, until: options.until });
if (endsAt !== undefined) void systemClock.sleep(endsAt - systemClock.now()).then(() => stop.abort());
try {
  await runMutants(
    {
      ...{ copies, cores: options.cores, firstSeed: options.seed * SEEDS_OF_A_DRAW, clock: systemClock },
      ...{ report: openReport(options.keep ?? KEPT, options.seed), stop: stop.signal, kill: kill.signal },
      isAgain: options.mutant !== undefined,
      print: (text) => {
        console.log(text);
      },
    },
    mutants,
  );
} finally {
  copies.close();
}
process.exit(0);

function readWords(): MutantsOptions {
  try {
    return readMutantsOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof BadOption)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

function chooseMutants({ mutant: name, only, seed, count }: MutantsOptions): readonly Mutant[] {
  if (name === undefined) return drawMutants(listProductMutants(only), seed, count);
  const named = listProductMutants().filter((mutant) => mutant.name === name);
  if (named.length > 0) return named;
  console.error(`mutant: ${name} does not exist; expected FILE:LINE:COLUMN:OPERATOR of this commit`);
  process.exit(2);
}

/** The first interrupt ends the run after the mutants that are judged now, the second one at once. */
function endEarly(): void {
  if (stop.signal.aborted) kill.abort();
  else stop.abort();
}
