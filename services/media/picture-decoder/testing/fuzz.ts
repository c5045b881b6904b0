import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { checkDecoding, FUZZERS } from './fuzz-streams.ts';

const RUNS = 200;

const { values } = parseArgs({ options: { seconds: { type: 'string' }, seed: { type: 'string' } } });
const endsAt = Date.now() + 1000 * Number(values.seconds ?? 60);
let seed = Number(values.seed ?? Date.now() % 1_000_000_000);
let calls = 0;

/** Stops at the first input that breaks a promise. The error of fast-check has the seed and the shortest such input. */
do {
  for (const streams of Object.values(FUZZERS)) {
    fc.assert(
      fc.property(streams, (stream) => {
        checkDecoding(stream);
      }),
      { seed, numRuns: RUNS },
    );
    calls += RUNS;
  }
  seed += 1;
} while (Date.now() < endsAt);
process.stdout.write(`${calls} calls: each returned a picture or a named refusal\n`);
