import { pbkdf2Sync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/* The program of a compromised parser process. It does what its file says. */
const say = (what: object): void => {
  process.stdout.write(`${JSON.stringify({ job, ...what })}\n`);
};
let job = 0;
let atNextJob = (): void => undefined;
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
  // what it says of this file arrives with the answer to the next file, or instead of it
  late: () => {
    say({ facts });
    const late = job;
    atNextJob = () => {
      say({ job: late, facts: { ...facts, width: 2 } });
    };
  },
  leaveLater: () => {
    say({ facts });
    atNextJob = () => {
      process.exit(0);
    };
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

process.stdin.setEncoding('utf8').on('data', (lines: string) => {
  for (const line of lines.trimEnd().split('\n')) {
    const given = JSON.parse(line) as { readonly job: number; readonly path: string; readonly into: string };
    atNextJob();
    job = given.job;
    DOES[readFileSync(given.path, 'utf8')]?.(given);
  }
});
process.stdout.write('{"ready":true}\n');
