#!/usr/bin/env node
/*
 * Every npm script that needs the packages runs it first, in its own command: npm skips pre-scripts where
 * ignore-scripts is set, as .npmrc does. `install.mjs program` installs what the program and the command line run;
 * without that word it installs the packages of the tests, checks and benchmarks too, beside those of the program if
 * they are there. It does so if node_modules is missing or package-lock.json has changed since the last install, and
 * checks that the Node of the scripts is new enough. If there is nothing to do, it takes some 30 ms. It is plain
 * JavaScript because it must run in an empty checkout with an older Node. It writes only to standard error, because
 * standard output belongs to the script that follows.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const lockPath = `${root}package-lock.json`;
/** npm's own list of the packages in node_modules. */
const installedPath = `${root}node_modules/.package-lock.json`;
/** Holds the hash of the lock file of the last install, which Node runs the scripts, and which packages are there. */
const markerPath = `${root}node_modules/.reelgate-lock`;
const packagedNode = `${root}node_modules/.bin/node`;
const platform = `${process.platform} ${process.arch}`;
const nodeIsPackaged = platform === 'linux x64' || platform === 'linux arm64';

const QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error'];
/** Installs into an empty node_modules. */
const CI = {
  program: ['ci', '--omit=dev', '--include=optional', ...QUIETLY],
  all: ['ci', '--include=dev', '--include=optional', ...QUIETLY],
};
/** Adds what is missing, and leaves alone what is there: a program may be running from it. */
const ADD = ['install', '--no-save', '--include=dev', '--include=optional', ...QUIETLY];
const REBUILD = ['rebuild', '--ignore-scripts=false', ...QUIETLY];
const INSTALL_TIMEOUT_MS = 15 * 60_000;
const MUTEX_TIMEOUT_MS = INSTALL_TIMEOUT_MS + 60_000;
const MUTEX_POLL_MS = 200;

function say(...lines) {
  process.stderr.write(lines.map((line) => `reelgate: ${line}\n`).join(''));
}

function refuse(...lines) {
  say(...lines);
  process.exit(1);
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

const hashOf = (text) => createHash('sha256').update(text).digest('hex');

/** Node 22.18 and 23.6 are the first versions that run TypeScript without a build. */
function runsTypeScript(version) {
  const [major, minor] = version.replace(/^v/, '').split('.').map(Number);
  return major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18);
}

/** The last finished install. A record of two words is from before there were two sets of packages. */
function readMarker() {
  const [hash, node, set = 'all'] = (readIfThere(markerPath) ?? '').trim().split(' ');
  return hash === '' ? undefined : { hash, node, set };
}

const ONLY_PROGRAM = 'only those of the program are here';

/** Why an install of the set is needed; undefined if the last one is still valid. */
function reasonToInstall(set) {
  if (!existsSync(`${root}node_modules`)) return 'node_modules is missing';
  const last = readMarker();
  if (last === undefined) return 'no finished install is on record';
  if (last.hash !== hashOf(readFileSync(lockPath))) return 'package-lock.json has changed';
  if (nodeIsPackaged && last.node !== 'own-node' && !existsSync(packagedNode))
    return 'node_modules/.bin/node is missing';
  if (set === 'all' && last.set !== 'all') return ONLY_PROGRAM;
  return undefined;
}

const readLock = () => JSON.parse(readFileSync(lockPath, 'utf8')).packages;

/** The packages that the program does not run. A link is one if its folder is. */
const developmentLocations = (lock) =>
  Object.keys(lock).filter((location) => (lock[location].link ? lock[lock[location].resolved] : lock[location]).dev);

const sameParcel = (a, b) => a.version === b.version && a.integrity === b.integrity && a.link === b.link;

/** Whether npm, started by hand or here, has made node_modules match the lock file. */
function alreadyInstalled(set) {
  const lock = readLock();
  const installed = JSON.parse(readIfThere(installedPath) ?? '{}').packages ?? {};
  const leftOut = new Set(set === 'all' ? [] : developmentLocations(lock));
  const wanted = Object.entries(lock).filter(([location]) => location !== '' && !leftOut.has(location));
  return (
    wanted.every(([location, entry]) =>
      location in installed ? sameParcel(entry, installed[location]) : entry.optional === true,
    ) &&
    Object.keys(installed).every(
      (location) => location in lock && (installed[location].link === true || existsSync(root + location)),
    ) &&
    (!nodeIsPackaged || existsSync(packagedNode))
  );
}

function processLives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function tryToTake(mutexPath) {
  try {
    writeFileSync(mutexPath, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the mutex file of a killed install once its npm has ended. The rename lets only one process remove it. */
function clearIfAbandoned(mutexPath) {
  const owners = readIfThere(mutexPath)?.match(/\d+/g) ?? [];
  if (owners.length === 0 || owners.some((pid) => processLives(Number(pid)))) return;
  const aside = `${mutexPath}.${process.pid}`;
  try {
    renameSync(mutexPath, aside);
    rmSync(aside);
  } catch {
    // Another process has just removed it.
  }
}

/**
 * Takes the mutex that lets one process install at a time. Its file lies outside node_modules, because an install
 * empties that folder. It holds the ids of the processes that install.
 */
async function takeMutex() {
  const { tmpdir } = await import('node:os');
  const mutexPath = `${tmpdir()}/reelgate-install-${hashOf(root).slice(0, 16)}`;
  const deadline = Date.now() + MUTEX_TIMEOUT_MS;
  for (let told = false; !tryToTake(mutexPath); told = true) {
    if (!told)
      say(`another install is running here (process ${readIfThere(mutexPath)?.trim() ?? '?'}); waiting for it`);
    if (Date.now() > deadline) refuse(`waited too long for it. If no install is running: rm ${mutexPath}`);
    clearIfAbandoned(mutexPath);
    await new Promise((resume) => setTimeout(resume, MUTEX_POLL_MS));
  }
  process.on('exit', () => rmSync(mutexPath, { force: true }));
  return mutexPath;
}

/** Runs npm with the Node that it came with, because the install replaces the one in node_modules. */
function commandOfNpm(options) {
  const { npm_execpath: npm, npm_node_execpath: node, PATH = '' } = process.env;
  const path = PATH.split(':')
    .filter((folder) => !folder.startsWith(root))
    .join(':');
  const known = npm?.endsWith('.js') && node && !node.startsWith(root);
  return { program: known ? node : 'npm', args: known ? [npm, ...options] : options, path };
}

/**
 * The installed packages whose install scripts may run: package.json names each package that has any. Beside them the
 * packaged Node if it is not linked yet. It has no script: where scripts are ignored, `npm ci` of npm 10 links nothing.
 */
function packagesToRebuild() {
  const { allowScripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const named = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  const unlinked = existsSync(packagedNode) ? [] : [`node-linux-${process.arch}`];
  return [...named, ...unlinked].filter((name) => existsSync(`${root}node_modules/${name}`));
}

/** Runs npm. Returns how it failed, or undefined. A signal that ends this program ends npm too. */
async function failureOfNpm(mutexPath, options) {
  const { spawn } = await import('node:child_process');
  const { program, args, path } = commandOfNpm(options);
  const env = { ...process.env, PATH: path };
  const npm = spawn(program, args, { cwd: root, env, stdio: ['ignore', 2, 2], timeout: INSTALL_TIMEOUT_MS });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => npm.kill(signal));
  if (npm.pid !== undefined) writeFileSync(mutexPath, `${process.pid} ${npm.pid}`);
  return new Promise((resolve) => {
    npm.on('error', (error) => resolve(error.message));
    npm.on('exit', (status, signal) =>
      resolve(status === 0 ? undefined : signal ? `ended by ${signal}` : `exit ${status}`),
    );
  });
}

/** The packaged Node needs glibc. If it does not start, the machine's own Node runs the scripts. */
async function usableNode() {
  if (!nodeIsPackaged) return 'own-node';
  const { spawnSync } = await import('node:child_process');
  if (spawnSync(packagedNode, ['--version']).status === 0) return 'packaged-node';
  rmSync(packagedNode, { force: true });
  return 'own-node';
}

function refuseAfter(command, failure) {
  refuse(
    `${command} failed (${failure}); its own messages are above.`,
    'Is the package registry reachable (npm ping), and is npm 10 or newer here (npm --version)?',
    'Then run this command again, or `npm ci` by itself to see more.',
  );
}

async function runNpm(mutexPath, command, options = []) {
  const failure = await failureOfNpm(mutexPath, [...command, ...options]);
  if (failure !== undefined) refuseAfter(['npm', command[0], ...options].join(' '), failure);
}

/**
 * Adds the packages of the tests to those of the program. The record of the program's install stays: a start needs
 * nothing else, whatever becomes of this install. What an earlier one has left half written goes first.
 */
async function addTheRest(mutexPath) {
  for (const location of developmentLocations(readLock()))
    if (location.includes('node_modules/')) rmSync(root + location, { recursive: true, force: true });
  rmSync(installedPath, { force: true });
  await runNpm(mutexPath, ADD);
}

async function installAnew(mutexPath, set) {
  rmSync(markerPath, { force: true });
  await runNpm(mutexPath, CI[set]);
}

async function install(wanted) {
  const mutexPath = await takeMutex();
  const reason = reasonToInstall(wanted);
  if (reason === undefined) return;
  const hash = hashOf(readFileSync(lockPath));
  const last = readMarker();
  // A new lock file takes away none of what is here.
  const set = last?.set === 'all' ? 'all' : wanted;
  if (!alreadyInstalled(set)) {
    say(`installing the packages, because ${reason}`);
    if (reason === ONLY_PROGRAM) await addTheRest(mutexPath);
    else await installAnew(mutexPath, set);
  }
  const rebuilt = packagesToRebuild();
  if (rebuilt.length > 0) await runNpm(mutexPath, REBUILD, rebuilt);
  writeFileSync(markerPath, `${hash} ${await usableNode()} ${set}`);
}

function versionOfTheScripts() {
  const manifest =
    existsSync(packagedNode) && readIfThere(`${root}node_modules/node-linux-${process.arch}/package.json`);
  return manifest ? JSON.parse(manifest).version : process.versions.node;
}

const wantedSet = process.argv[2] === 'program' ? 'program' : 'all';
if (reasonToInstall(wantedSet) !== undefined) await install(wantedSet);
if (!runsTypeScript(versionOfTheScripts())) {
  refuse(
    `the scripts need Node 22.18 or newer; this machine would run them on ${versionOfTheScripts()} (${platform}).`,
    'On Linux (x64, arm64) Node 24 comes with the packages. Elsewhere put Node 24 first on the PATH:',
    '  brew install node@24 (macOS), nvm install 24, fnm install 24, or a download from nodejs.org',
    'and run this command again.',
  );
}
