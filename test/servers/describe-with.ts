import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Launcher, RunningServer } from './launcher.ts';
import { leaseServer } from './lease-server.ts';

const START_TIMEOUT_MS = 120_000;

/**
 * A describe block whose tests share an empty server, which no other block uses before the last of them ends. If the
 * server is missing, the block is skipped with a message. `url` can be called only while tests run.
 */
export function describeWith(launcher: Launcher, title: string, tests: (url: () => string) => void): void {
  const reason = launcher.missing();
  if (reason !== undefined) {
    process.stderr.write(`skipped: ${title} with ${launcher.name}: ${reason}\n`);
    describe.skip(`${title} with ${launcher.name}`, () => tests(() => ''));
    return;
  }
  describe(`${title} with ${launcher.name}`, () => {
    let server: RunningServer | undefined;
    beforeAll(async () => {
      server = await (launcher.empty === undefined ? launcher.start() : leaseServer(launcher));
    }, START_TIMEOUT_MS);
    afterAll(async () => server?.stop());
    tests(() => {
      if (server === undefined) throw new Error(`${launcher.name} does not run yet: ask for its url within a test`);
      return server.url;
    });
  });
}
