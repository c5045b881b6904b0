import { enableCompileCache } from 'node:module';
import { setV8Flags } from '../program/runtime/v8-flags.ts';

/** An open connection does not keep the process when its command is over. */
const END_MS = 300;
/** The exit code that shells give to a program after its reader has left, such as `head`. */
const READER_LEFT = 141;

enableCompileCache();

// The same flags as in the program, because both share compiled code. V8 refuses code that was compiled under other
// flags, and each would overwrite the code of the other.
setV8Flags();

const args = process.argv.slice(2);
const { needsSupervision, readBegin, superviseDoctor } = await import('./doctor/supervise-doctor.ts');
if (needsSupervision(args, process.env)) {
  const { systemClock } = await import('@reelgate/platform/clock');
  const begunAt = performance.timeOrigin;
  const call = { args, main: import.meta.filename, environment: process.env, begunAt, clock: systemClock };
  process.exit(await superviseDoctor(call));
}

const isSupervised = readBegin(process.env) !== undefined;
// A process without its supervisor has no reader.
if (isSupervised) process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(READER_LEFT);
});

// What is imported here is in the compile cache, so each call is quick.
await import('./caller-umask.ts');
const { runCommand } = await import('./run-command.ts');
process.exitCode = await runCommand(args, process.env);
// Where writes to a pipe wait for its reader, the output must be whole before this process is ended.
if (process.stdout.writableLength > 0) await new Promise((resolve) => process.stdout.write('', resolve));
if (isSupervised) process.send?.(process.exitCode);
setTimeout(() => process.exit(), END_MS).unref();
