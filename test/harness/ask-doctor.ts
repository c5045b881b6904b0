import type { DoctorLine } from '../../deploy/cli/doctor/doctor-line.ts';
import type { CommandResult, Program } from './program.ts';

const TRIES_MAX = 5;

export interface Examination {
  readonly lines: readonly DoctorLine[];
  readonly result: CommandResult;
}

/**
 * Runs `reelgate doctor`. On a busy machine it can start so slowly that little of its time is left for questions. A line
 * about itself says so, and then it runs again.
 */
export async function askDoctor(program: Program): Promise<Examination> {
  for (let tries = 1; ; tries += 1) {
    const result = await program.command('doctor');
    const { lines } = result.json as { readonly lines: readonly DoctorLine[] };
    if (tries === TRIES_MAX || !lines.some(({ subject }) => subject === 'doctor')) return { lines, result };
  }
}
