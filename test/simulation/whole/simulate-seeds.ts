import { execFile } from 'node:child_process';
import path from 'node:path';

const MAIN = path.join(import.meta.dirname, 'main.ts');
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export interface SimulationRun {
  readonly code: number;
  readonly out: string;
}

/** Runs the simulation in a process of its own, as `npm run simulate` does. */
export function simulateSeeds(...options: readonly string[]): Promise<SimulationRun> {
  return runNode([MAIN, ...options]);
}

export function runNode(options: readonly string[]): Promise<SimulationRun> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', ...options],
      { cwd: import.meta.dirname, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: OUTPUT_BYTES_MAX },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), out: stdout + stderr });
      },
    );
  });
}
