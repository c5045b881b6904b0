import { parseArgs } from 'node:util';
import type { Row } from './engine/row.ts';
import { runRows } from './engine/run-rows.ts';
import { ROWS } from './rows/index.ts';
import { givenWorld } from './world/given-world.ts';
import { startOwnWorlds } from './world/own-worlds.ts';

const USAGE = `usage: npm run contract -- [--url URL --token KEY [--sandbox]] [--only PATTERN] [--list]

Tries every row of the contract. Without --url it starts the program itself, with the sandbox upstream.
  --url URL        a gateway that runs already; rows that need more than an address are left out
  --token KEY      a token of it that sees Alpha-H3; rows that create tasks are charged to its account
  --sandbox        the upstream of that gateway is the sandbox
  --only PATTERN   rows whose section and name match the regular expression
  --list           print the rows, and run none`;
const AT_ONCE = 12;

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    token: { type: 'string' },
    sandbox: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const title = ({ section, name }: Row): string => `${section}: ${name}`;
const rows = ROWS.filter((row) => new RegExp(values.only).test(title(row)));

if (values.help) console.log(USAGE);
else if (rows.length === 0) {
  console.error(`no row matches '${values.only}'`);
  process.exitCode = 1;
} else if (values.list) for (const row of rows) console.log(title(row));
else if (values.url !== undefined && values.token === undefined) {
  console.error(USAGE);
  process.exitCode = 2;
} else process.exitCode = await run();

async function run(): Promise<number> {
  const { url, token = '', sandbox } = values;
  const own = url === undefined ? await startOwnWorlds() : undefined;
  const counts = { passed: 0, failed: 0, skipped: 0 };
  try {
    await runRows(rows, own ?? givenWorld({ url: url ?? '', token, sandbox }), {
      atOnce: AT_ONCE,
      ended: (row, outcome) => {
        counts[outcome.kind] += 1;
        if (outcome.kind === 'failed') console.log(`not ok ${title(row)}: ${outcome.why}`);
      },
    });
  } finally {
    await own?.end();
  }
  if (counts.skipped > 0) console.log(`${counts.skipped} rows left out: they need more than this address`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed > 0 || counts.passed === 0 ? 1 : 0;
}
