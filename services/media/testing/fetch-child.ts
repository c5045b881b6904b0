import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { parseHostPort } from '@reelgate/platform/config/units';
import { openIncoming } from '../src/blobs/incoming.ts';
import { addressPolicy } from '../src/fetch/addresses/address-policy.ts';
import { fetchGuarded } from '../src/fetch/transfers/guarded-fetch.ts';
import { orderOf } from './fetch-order.ts';

/*
 * Fetches addresses in a separate process, whose environment is that of the test from its start. It prints the bytes of
 * each address, or the code of its fault. It fetches the first argument as any program would, to show what the
 * environment changes.
 */
const LIMITS = {
  totalMs: 10_000,
  leastBytesPerSecond: 0,
  speedWindowMs: 15_000,
  stagesMs: { resolve: 5000, connect: 5000, headers: 5000, body: 5000 },
};
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-fetch-child-'));
const [plain = '', ...urls] = process.argv.slice(2);
const allow = urls.map((url) => parseHostPort(new URL(url).host)).filter((entry) => entry !== undefined);
const deps = {
  clock: systemClock,
  log: silentLog,
  incoming: openIncoming(folder, newIds(systemClock)),
  dnsServers: [],
  redirectsMax: 3,
  headerBytesMax: 16 * 1024,
  isOwn: () => false,
  policy: addressPolicy({ allow, ports: [] }),
};

async function outcomeOf(url: string): Promise<string> {
  try {
    const file = await fetchGuarded(deps, orderOf(url, LIMITS));
    return readFileSync(file.path, 'utf8');
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const outcomes = [
  await fetch(plain).then(
    (response) => response.text(),
    () => 'failed',
  ),
];
for (const url of urls) outcomes.push(await outcomeOf(url));
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify(outcomes));
