import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkDecoding, FUZZERS } from '../testing/fuzz-streams.ts';
import { sampleStream, SAMPLES } from '../testing/samples.ts';

const RUNS: Readonly<Record<string, number>> = { 'random track descriptions': 500 };

describe('any bytes give a picture or a named refusal in bounded time', () => {
  test.each(Object.entries(FUZZERS))(
    'from %s',
    (name, streams) => {
      fc.assert(
        fc.property(streams, (stream) => {
          checkDecoding(stream);
        }),
        { seed: 264, numRuns: RUNS[name] ?? 120 },
      );
    },
    120_000,
  );

  test('from streams cut at every length', () => {
    for (const whole of SAMPLES.map(({ name }) => sampleStream(name)))
      for (let length = 0; length < whole.byteLength; length += 101)
        checkDecoding({ packet: whole.subarray(0, length) });
  }, 120_000);

  test('the mutations reach past the headers: both answers occur', () => {
    const answers = fc.sample(FUZZERS['mutated streams']!, { seed: 264, numRuns: 120 }).map(checkDecoding);

    for (const answer of ['picture', 'refusal'])
      expect(answers.filter((given) => given === answer).length).toBeGreaterThan(10);
  }, 120_000);
});
