#!/usr/bin/env node
/*
 * Checks the licence of every package in the lock file against the lists below: one for packages that ship with the
 * program, one for packages that only build or test it. The lock file itself gives the licence of a package that is not
 * installed on this platform.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ANYWHERE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
];
/** Licences whose terms reach no further than the licensed work: unchanged files, a shared library, a font. */
const UNCHANGED_ONLY = ['LGPL-3.0-or-later', 'MPL-2.0', 'OFL-1.1'];
/** Licences of data that the development tools read. */
const TOOLS_ONLY = ['CC-BY-4.0'];
/** Packages whose manifest names no licence, with the licence in their files. */
const BY_THEIR_FILES = { 'cohere-ai': 'MIT', 'humanize-number': 'MIT', only: 'MIT' };

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The SPDX expression of a manifest. Older manifests have a list of objects instead. */
function expressionOf({ license, licenses }) {
  const said = license ?? licenses;
  if (typeof said === 'string') return said;
  return [said ?? []]
    .flat()
    .map(({ type }) => type)
    .join(' OR ');
}

/** Whether at least one alternative of the expression is allowed, with every licence that it joins by AND. */
function isAllowed(expression, allowed) {
  const parts = (text, word) => text.replace(/[()]/g, '').split(` ${word} `);
  return parts(expression, 'OR').some((choice) => parts(choice, 'AND').every((one) => allowed.has(one)));
}

const faults = [];
let checked = 0;
for (const [path, entry] of Object.entries(read(`${root}package-lock.json`).packages)) {
  if (!path.includes('node_modules/') || entry.link === true) continue;
  const manifest = `${root}${path}/package.json`;
  const isInstalled = existsSync(manifest);
  const expression = expressionOf(isInstalled ? read(manifest) : entry) || BY_THEIR_FILES[nameOf(path)] || '';
  // A build for another platform without a licence in the lock file: a run on that platform checks it.
  if (!isInstalled && expression === '') continue;
  const allowed = new Set([...ANYWHERE, ...UNCHANGED_ONLY, ...(entry.dev === true ? TOOLS_ONLY : [])]);
  checked += 1;
  if (!isAllowed(expression, allowed)) faults.push(`${path}: ${expression || 'no licence'} is not on the list`);
}

for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error('replace the package, or add its licence to deploy/local/check-licences.mjs with the reason');
  process.exitCode = 1;
} else {
  console.log(`licences: ${checked} packages are in order`);
}
