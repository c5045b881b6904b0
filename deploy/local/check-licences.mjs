#!/usr/bin/env node
/*
 * Checks the licence of every installed package against the lists below: those that ship with the program, and those that
 * only build or test it. A package that is not installed on this platform is checked by what the lock file says of it.
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
/** Licences that concern one work alone: unchanged files of a library, a shared library, a font. */
const UNCHANGED_ONLY = ['LGPL-3.0-or-later', 'MPL-2.0', 'OFL-1.1'];
/** Data that the tools read. */
const TOOLS_ONLY = ['CC-BY-4.0'];
/** Packages whose manifest names no licence, and what their own files say. */
const BY_THEIR_FILES = { 'cohere-ai': 'MIT', 'humanize-number': 'MIT', only: 'MIT' };

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** The SPDX expression of a manifest; older manifests hold a list of objects. */
function expressionOf({ license, licenses }) {
  const said = license ?? licenses;
  if (typeof said === 'string') return said;
  return [said ?? []]
    .flat()
    .map(({ type }) => type)
    .join(' OR ');
}

/** Whether one side of each OR, with all sides of its ANDs, is allowed. */
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
  // A build for another platform of which the lock file says nothing: its own package is checked where it is installed.
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
