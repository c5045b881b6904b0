import { chromium } from './chromium.ts';
import { installDebianPackages } from './debian-packages.ts';
import type { Launcher } from './launcher.ts';
import { natsServer } from './nats-server.ts';
import { pgBouncerServer } from './pgbouncer-server.ts';
import { postgresServer } from './postgres-server.ts';
import { caddy, nginx } from './proxies.ts';
import { redisServer } from './redis-server.ts';

const PACKAGES: readonly (readonly [Pick<Launcher, 'name' | 'missing'>, string])[] = [
  [postgresServer, 'postgresql'],
  [redisServer, 'redis-server'],
  [natsServer, 'nats-server'],
  [pgBouncerServer, 'pgbouncer'],
  [chromium, 'chromium'],
  [nginx, 'nginx'],
  [caddy, 'caddy'],
];

/** Any value of this variable keeps the tests from installing packages. */
const OPT_OUT = 'REELGATE_TEST_NO_INSTALL';

/** Installs missing servers and prints the names of those that stay missing. */
export function installMissing(print: (line: string) => void): void {
  const missing = PACKAGES.filter(([server]) => server.missing() !== undefined);
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  const failure = process.env[OPT_OUT] === undefined ? installDebianPackages(names) : `${OPT_OUT} is set`;
  if (failure === undefined) print(`installed for the tests: ${names.join(', ')}`);
  for (const [server] of missing) {
    const reason = server.missing();
    if (reason !== undefined)
      print(`tests against ${server.name} are skipped: ${reason}${failure === undefined ? '' : `; ${failure}`}`);
  }
}
