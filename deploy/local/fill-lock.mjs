#!/usr/bin/env node
/*
 * Completes package-lock.json. `npm install` may leave out the build of an optional package for another platform, and
 * `npm ci` of npm 11.19 refuses such a lock. The script asks the registry for what is missing: the whole entry, or the
 * hash of one that has none, so that every platform installs only what was locked. Run it after each `npm install`.
 * `--check` asks nobody, changes nothing, and exits with 1 if an entry or a hash is missing, or if `allowScripts` of
 * package.json does not decide on a package with an install script.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;
const REGISTRY_TIMEOUT_MS = 60_000;
/** What the lock keeps of the registry's description of a package, in the order of npm. */
const KEPT = ['cpu', 'libc', 'license', 'os', 'engines'];

const [named] = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const root = named === undefined ? new URL('../../', import.meta.url) : pathToFileURL(`${named}/`);
const lockPath = fileURLToPath(new URL('package-lock.json', root));
const manifestPath = fileURLToPath(new URL('package.json', root));

/** Where Node's search upwards from `location` finds the package `name`; undefined if there is a hole. */
function resolvedLocation(packages, location, name) {
  for (let folder = location; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const candidate = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (candidate in packages) return candidate;
    if (folder === '') return undefined;
  }
}

function holesOf(packages) {
  return Object.entries(packages).flatMap(([location, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => resolvedLocation(packages, location, name) === undefined)
      .map(([name, version]) => ({ name, version, wantedBy: location, dev: entry.dev === true })),
  );
}

const isHashed = ({ integrity }) => /^sha512-/.test(integrity ?? '');

/** Entries of the registry's packages without a strong hash: whatever the registry then serves would be installed. */
const unhashed = (packages) =>
  Object.entries(packages).filter(
    ([location, entry]) => location.includes('node_modules/') && !entry.link && !isHashed(entry),
  );

const nameAt = (location) => location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);

function askRegistry(name, version) {
  const words = ['view', `${name}@${version}`, 'dist.integrity', ...KEPT, '--json'];
  const { 'dist.integrity': integrity, ...facts } = JSON.parse(
    execFileSync('npm', words, { encoding: 'utf8', timeout: REGISTRY_TIMEOUT_MS }) || '{}',
  );
  if (!isHashed({ integrity }))
    throw new Error(`the registry has no hash of ${name} ${version}: lock a version it has`);
  return { integrity, ...facts };
}

function lockOptional({ name, version, wantedBy, dev }) {
  if (!EXACT_VERSION.test(version)) throw new Error(`${wantedBy} wants ${name} ${version}: not an exact version`);
  return { version, ...askRegistry(name, version), ...(dev && { dev }), optional: true };
}

/** Entries with the address of a registry, which does not belong in the lock: each machine has its own registry. */
const addressed = (packages) => Object.entries(packages).filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''));

function fill(lock) {
  for (const [, entry] of addressed(lock.packages)) delete entry.resolved;
  for (const hole of holesOf(lock.packages)) lock.packages[`node_modules/${hole.name}`] = lockOptional(hole);
  for (const [location, entry] of unhashed(lock.packages)) {
    const facts = askRegistry(nameAt(location), entry.version);
    lock.packages[location] = { version: entry.version, ...facts, ...entry, integrity: facts.integrity };
  }
  const inOrder = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(inOrder) };
}

/** Packages with install scripts that nobody has judged. None runs, but each may be needed. */
const unjudged = (packages, judged) =>
  Object.entries(packages)
    .filter(([location, entry]) => entry.hasInstallScript === true && location.includes('node_modules/'))
    .map(([location]) => nameAt(location))
    .filter((name) => !Object.hasOwn(judged, name));

const lock = JSON.parse(readFileSync(lockPath, 'utf8'));
const holes = holesOf(lock.packages);
const addresses = addressed(lock.packages);
const withoutHash = unhashed(lock.packages);
const faults = holes.length + addresses.length + withoutHash.length;

if (process.argv.includes('--check')) {
  for (const { name, version, wantedBy } of holes) console.error(`hole: ${name} ${version}, wanted by ${wantedBy}`);
  const { allowScripts = {} } = JSON.parse(readFileSync(manifestPath, 'utf8'));
  for (const name of unjudged(lock.packages, allowScripts)) {
    console.error(
      `install script: ${name} has one; add it to allowScripts of package.json, as false unless it is needed`,
    );
    process.exitCode = 1;
  }
  for (const [location, { resolved }] of addresses) console.error(`address: ${location} names ${resolved}`);
  for (const [location, { version }] of withoutHash) console.error(`hash: ${nameAt(location)} ${version} has none`);
  if (faults > 0) {
    console.error('package-lock.json: run `npm run lock:fill` and commit the result');
    process.exitCode = 1;
  }
} else if (faults > 0) {
  // beside it first, so that a fault leaves the lock as it was
  writeFileSync(`${lockPath}.new`, `${JSON.stringify(fill(lock), null, 2)}\n`);
  renameSync(`${lockPath}.new`, lockPath);
  console.log(
    `package-lock.json: ${holes.length} holes filled, ${withoutHash.length} hashes added, ` +
      `${addresses.length} addresses removed`,
  );
}
