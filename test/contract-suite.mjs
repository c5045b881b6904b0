#!/usr/bin/env node
/*
 * Runs the black-box suite of the contract against this checkout and compares it with test/contract-owed.json, the list
 * of cases that are known to fail: [{ "id": "case/id", "issue": 3, "why": "…" }]. A case that fails and is not on the
 * list counts as failed. So does a case that passes and is on the list, so the list can only shrink. The last line is
 * `N passed, N failed`.
 *
 *   node test/contract-suite.mjs SUITE [further arguments for the suite]
 *   node test/contract-suite.mjs ../shared/contract/run.mjs --only '^ir-'
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const owedPath = `${root}test/contract-owed.json`;
const logPath = `${root}contract-suite.log`;
const TIMEOUT_MS = 40 * 60_000;

const isOwed = (entry) =>
  typeof entry?.id === 'string' && Number.isInteger(entry.issue) && typeof entry.why === 'string' && entry.why !== '';

/** The list as a map from id to entry. Throws on an entry without its issue or its reason. */
function readOwed() {
  const list = JSON.parse(readFileSync(owedPath, 'utf8'));
  const wrong = list.find((entry) => !isOwed(entry));
  if (wrong !== undefined)
    throw new Error(`${owedPath}: not {"id": string, "issue": number, "why": string}: ${JSON.stringify(wrong)}`);
  const owed = new Map(list.map((entry) => [entry.id, entry]));
  if (owed.size !== list.length) throw new Error(`${owedPath}: an id stands in it twice`);
  return owed;
}

/** Runs the suite. Writes its output to the log and gives each line to `read`. Returns how the suite ended. */
async function runSuite(suite, args, read) {
  const log = createWriteStream(logPath);
  const child = spawn(process.execPath, [suite, '--project', root, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const ended = once(child, 'close');
  child.stderr.pipe(log, { end: false });
  for await (const line of createInterface({ input: child.stdout })) {
    log.write(`${line}\n`);
    read(line);
  }
  const [status, signal] = await ended;
  log.end();
  return { status, signal };
}

/** The outcome of each case, in the order of the suite: its id, and why it failed (undefined if it passed). */
function caseReader() {
  const cases = new Map();
  let total;
  const read = (line) => {
    const passed = /^ok (\S+)$/.exec(line);
    const failed = /^not ok (\S+?): (.*)$/.exec(line);
    const end = /^(\d+) passed, (\d+) failed$/.exec(line);
    if (passed) cases.set(passed[1], undefined);
    if (failed) cases.set(failed[1], failed[2]);
    if (end) total = Number(end[1]) + Number(end[2]);
  };
  return { cases, read, isComplete: () => total === cases.size };
}

function faultsOf(cases, owed, everyCaseRan) {
  const surprises = [...cases].flatMap(([id, why]) => {
    if (why !== undefined && !owed.has(id)) return [`not ok ${id}: ${why}`];
    if (why === undefined && owed.has(id))
      return [`not ok ${id}: it passes now; take it out of test/contract-owed.json (issue ${owed.get(id).issue})`];
    return [];
  });
  const unknown = everyCaseRan ? [...owed.keys()].filter((id) => !cases.has(id)) : [];
  return [
    ...surprises,
    ...unknown.map((id) => `not ok ${id}: test/contract-owed.json names it and the suite has no such case`),
  ];
}

const [suite, ...args] = process.argv.slice(2);
if (suite === undefined) {
  console.error('usage: node test/contract-suite.mjs SUITE [arguments]');
  process.exit(2);
}
const owed = readOwed();
const { cases, read, isComplete } = caseReader();
const { status, signal } = await runSuite(suite, args, read);
const faults = faultsOf(cases, owed, isComplete() && args.length === 0);
if (!isComplete() || cases.size === 0)
  faults.push(`not ok suite: it ended early (${signal ?? `exit ${status}`}) after ${cases.size} cases`);

const owing = [...cases].filter(([id, why]) => why !== undefined && owed.has(id)).length;
const passed = [...cases].filter(([id, why]) => why === undefined && !owed.has(id)).length;
for (const fault of faults) console.log(fault);
console.log(`${cases.size} cases, ${owing} of them owed; all output: ${logPath}`);
console.log(`${passed} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
