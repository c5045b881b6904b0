import { pbkdf2Sync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/* The program of a compromised parser process. It does what its file says. */
const say = (what: unknown): void => {
  process.stdout.write(`${JSON.stringify(what)}\n`);
};
const facts = { family: 'image', mediaType: 'image/png', width: 1, height: 1 };
const kept: Buffer[] = [];

const DOES: Readonly<Record<string, (job: { readonly into: string }) => void>> = {
  good: () => {
    say({ facts });
  },
  abort: () => {
    process.abort();
  },
  crash: () => {
    process.kill(process.pid, 'SIGSEGV');
  },
  leave: () => {
    process.exit(0);
  },
  // one native call that JavaScript cannot interrupt
  hold: () => {
    pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512');
  },
  wait: () => undefined,
  fill: () => {
    for (;;) kept.push(Buffer.alloc(2 ** 24, 1));
  },
  flood: () => {
    process.stdout.write('a'.repeat(2 ** 20));
  },
  twice: () => {
    say({ facts });
    say({ facts: { ...facts, width: 2 } });
  },
  babble: () => {
    process.stdout.write('hello\n');
  },
  lie: () => {
    say({ facts: { ...facts, mediaType: 'text/html' } });
  },
  draw: ({ into }) => {
    writeFileSync(into, 'drawn');
    say({ facts });
  },
  nothing: () => {
    say({ facts });
  },
};

process.stdin.setEncoding('utf8').on('data', (line: string) => {
  const job = JSON.parse(line) as { readonly path: string; readonly into: string };
  DOES[readFileSync(job.path, 'utf8')]?.(job);
});
say({ ready: true });
