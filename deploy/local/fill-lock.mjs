#!/usr/bin/env node
/*
 * Completes package-lock.json. If the registry lacks the build of an optional package for some platform, `npm install`
 * leaves a hole in the lock, and `npm ci` of npm 11.19 refuses such a lock. The script fills each hole with a stub:
 * version, os and cpu, no integrity. npm skips the stub on every other platform. Run it after each `npm install`.
 * `--check` changes nothing and exits with 1 if there is a hole, or a package with an install script on which
 * `allowScripts` of package.json does not decide.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SYSTEMS = ['darwin', 'win32', 'linux', 'android', 'freebsd', 'openbsd', 'netbsd', 'openharmony', 'sunos', 'aix'];
const PROCESSORS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64', 'mips64el', 'wasm32'];
const PROCESSOR_SPELLINGS = { armv7: 'arm', armv6: 'arm', ppc64le: 'ppc64' };
const EXACT_VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

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

function platformOf(name) {
  const words = name.split(/[/_-]/).map((word) => PROCESSOR_SPELLINGS[word] ?? word);
  return {
    os: SYSTEMS.filter((system) => words.includes(system)),
    cpu: PROCESSORS.filter((processor) => words.includes(processor)),
  };
}

function stubFor({ name, version, wantedBy, dev }) {
  const { os, cpu } = platformOf(name);
  if (!EXACT_VERSION.test(version)) throw new Error(`${wantedBy} wants ${name} ${version}: not an exact version`);
  if (os.length + cpu.length === 0) throw new Error(`${wantedBy} wants ${name}: its name has no platform`);
  return {
    version,
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

/** Entries with the address of a registry, which does not belong in the lock: each machine has its own registry. */
const addressed = (packages) => Object.entries(packages).filter(([, entry]) => /^https?:/.test(entry.resolved ?? ''));

function fill(lock) {
  for (const [, entry] of addressed(lock.packages)) delete entry.resolved;
  for (const hole of holesOf(lock.packages)) lock.packages[`node_modules/${hole.name}`] = stubFor(hole);
  const inOrder = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  return { ...lock, packages: Object.fromEntries(inOrder) };
}

/** Packages with install scripts that nobody has judged. None runs, but each may be needed. */
const unjudged = (packages, judged) =>
  Object.entries(packages)
    .filter(([location, entry]) => entry.hasInstallScript === true && location.includes('node_modules/'))
    .map(([location]) => location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length))
    .filter((name) => !Object.hasOwn(judged, name));

const lock = JSON.parse(readFileSync(lockPath, 'utf8'));
const holes = holesOf(lock.packages);
const addresses = addressed(lock.packages);

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
  if (holes.length + addresses.length > 0) {
    console.error('package-lock.json: run `npm run lock:fill` and commit the result');
    process.exitCode = 1;
  }
} else if (holes.length + addresses.length > 0) {
  // beside it first, so that a fault leaves the lock as it was
  writeFileSync(`${lockPath}.new`, `${JSON.stringify(fill(lock), null, 2)}\n`);
  renameSync(`${lockPath}.new`, lockPath);
  console.log(`package-lock.json: ${holes.length} holes filled, ${addresses.length} addresses removed`);
}
