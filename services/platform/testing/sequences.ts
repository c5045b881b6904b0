import fc from 'fast-check';
import type { Arbitrary, IAsyncProperty } from 'fast-check';

/** The sequences of each property in a run of the tests. All of them together take about 14 s of a processor. */
const SEQUENCES_A_RUN = 6;
const SEQUENCES_MAX = 1_000_000;
/** Far more than a sequence and the search for a shorter failing one take. */
const MS_A_SEQUENCE = 4000;
const STORY_CHARACTERS_MAX = 20_000;

/**
 * The sequences that each property draws. The night run raises it:
 * `REELGATE_SEQUENCES=5000 npm test -- drawn`. A failure prints its seed:
 * `REELGATE_SEED=7 npm test -- drawn` draws the same sequences again.
 */
export const SEQUENCES = readSequences(process.env['REELGATE_SEQUENCES']);
const SEED = process.env['REELGATE_SEED'];
/** The time in milliseconds that the sequences of one test may take. */
export const SEQUENCES_TIMEOUT_MS = 30_000 + SEQUENCES * MS_A_SEQUENCE;

function readSequences(given: string | undefined): number {
  if (given === undefined) return SEQUENCES_A_RUN;
  const count = Number(given);
  if (!Number.isInteger(count) || count < 1 || count > SEQUENCES_MAX)
    throw new Error(`REELGATE_SEQUENCES is ${given}; it must be a whole number from 1 to ${SEQUENCES_MAX}`);
  return count;
}

/** Draws a sequence of steps, longer than fast-check would by itself, so that steps meet what earlier ones left. */
export function drawSequence<T>(step: Arbitrary<T>, stepsMax: number): Arbitrary<T[]> {
  return fc.array(step, { minLength: 1, maxLength: stepsMax, size: 'max' });
}

/** Runs the property for each sequence. Of a failing one it searches a shorter one, and throws the story of that. */
export async function checkSequences<T>(drawn: Arbitrary<T>, property: (sequence: T) => Promise<void>): Promise<void> {
  let running: Promise<unknown> | undefined;
  const every: IAsyncProperty<[T]> = fc.asyncProperty(drawn, async (sequence) => {
    const run = property(sequence);
    running = Promise.allSettled([run]);
    await run;
  });
  const found = await fc.check(every, {
    numRuns: SEQUENCES,
    ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    // short sequences are no likelier than long ones
    unbiased: true,
    interruptAfterTimeLimit: SEQUENCES_TIMEOUT_MS / 2,
    markInterruptAsFailure: true,
  });
  // a sequence that the time limit interrupts still uses the database of the next one
  await running;
  if (!found.failed) return;
  const { errorInstance: error, seed, numRuns, numShrinks } = found;
  const message = error instanceof Error ? error.message : 'the sequences took too long';
  throw new Error(
    `REELGATE_SEED=${seed}, sequence ${numRuns}, made shorter ${numShrinks} times:\n` +
      message.slice(0, STORY_CHARACTERS_MAX),
    { cause: error },
  );
}

/** The result of a call: its answer, or the error that it threw. */
export type Outcome = { readonly answer: unknown } | { readonly error: string };

export async function runToOutcome(call: () => unknown): Promise<Outcome> {
  try {
    return { answer: await call() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/** The outcome as a story tells it. */
export function describeOutcome(outcome: Outcome): string {
  return JSON.stringify(outcome, (_member, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Set || value instanceof Map ? [...value] : value;
  });
}

/** SQLite and PostgreSQL say it in words of their own. */
const TAKEN_KEY = /UNIQUE constraint failed|duplicate key value violates unique constraint/;

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (TAKEN_KEY.test(error.message)) return 'a row has this key';
  const reason = (error as { readonly reason?: unknown }).reason;
  return typeof reason === 'string' ? reason : `${error.constructor.name}: ${error.message}`;
}

/** The steps that ran, each with its outcome: what a person reads of a failing sequence. */
export interface Story {
  tell(line: string): void;
  /** Runs the check. If it fails, its error begins with the story. */
  check(check: () => void): void;
}

export function newStory(): Story {
  const lines: string[] = [];
  return {
    tell: (line) => void lines.push(`${lines.length + 1}. ${line}`),
    check: (check) => {
      try {
        check();
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new Error(`${lines.join('\n')}\n${message}`, { cause: error });
      }
    },
  };
}
