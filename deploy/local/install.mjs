#!/usr/bin/env node
/*
 * Every npm script that needs the packages runs it first, in its own command: npm skips pre-scripts where
 * ignore-scripts is set, as .npmrc does. It installs the packages if node_modules is missing or package-lock.json has changed
 * since the last install, and checks that the Node of the scripts is new enough. If there is nothing to do, it takes
 * some 30 ms. It is plain JavaScript because it must run in an empty checkout with an older Node. It writes only to
 * standard error, because standard output belongs to the script that follows.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const lockPath = `${root}package-lock.json`;
/** npm's own list of the packages in node_modules. */
const installedPath = `${root}node_modules/.package-lock.json`;
/** Holds the hash of the lock file of the last install, and which Node runs the scripts. */
const markerPath = `${root}node_modules/.reelgate-lock`;
const packagedNode = `${root}node_modules/.bin/node`;
const platform = `${process.platform} ${process.arch}`;
const nodeIsPackaged = platform === 'linux x64' || platform === 'linux arm64';

const CI = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
const REBUILD = ['rebuild', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error'];
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

/** Why an install is needed; undefined if the last one is still valid. */
function reasonToInstall() {
  if (!existsSync(`${root}node_modules`)) return 'node_modules is missing';
  const [installedHash, node] = (readIfThere(markerPath) ?? '').split(' ');
  if (installedHash === '') return 'no finished install is on record';
  if (installedHash !== hashOf(readFileSync(lockPath))) return 'package-lock.json has changed';
  if (nodeIsPackaged && node !== 'own-node' && !existsSync(packagedNode)) return 'node_modules/.bin/node is missing';
  return undefined;
}

const sameParcel = (a, b) => a.version === b.version && a.integrity === b.integrity && a.link === b.link;

/** Whether an `npm install` by hand has already made node_modules match the lock file. */
function alreadyInstalled() {
  const lock = JSON.parse(readFileSync(lockPath, 'utf8')).packages;
  const installed = JSON.parse(readIfThere(installedPath) ?? '{}').packages ?? {};
  const wanted = Object.entries(lock).filter(([location]) => location !== '');
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
 * packaged Node, which has no script: where scripts are ignored, `npm ci` of npm 10 does not link it.
 */
function packagesToRebuild() {
  const { allowScripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const named = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  return [...named, `node-linux-${process.arch}`].filter((name) => existsSync(`${root}node_modules/${name}`));
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

async function install(reason) {
  const mutexPath = await takeMutex();
  if (reasonToInstall() === undefined) return;
  const hash = hashOf(readFileSync(lockPath));
  if (!alreadyInstalled()) {
    say(`installing the packages, because ${reason}`);
    rmSync(markerPath, { force: true });
    const failure = await failureOfNpm(mutexPath, CI);
    if (failure !== undefined) refuseAfter('npm ci', failure);
  }
  const rebuilt = packagesToRebuild();
  const failure = rebuilt.length === 0 ? undefined : await failureOfNpm(mutexPath, [...REBUILD, ...rebuilt]);
  if (failure !== undefined) refuseAfter(`npm rebuild ${rebuilt.join(' ')}`, failure);
  writeFileSync(markerPath, `${hash} ${await usableNode()}`);
}

function versionOfTheScripts() {
  const manifest =
    existsSync(packagedNode) && readIfThere(`${root}node_modules/node-linux-${process.arch}/package.json`);
  return manifest ? JSON.parse(manifest).version : process.versions.node;
}

const reason = reasonToInstall();
if (reason !== undefined) await install(reason);
if (!runsTypeScript(versionOfTheScripts())) {
  refuse(
    `the scripts need Node 22.18 or newer; this machine would run them on ${versionOfTheScripts()} (${platform}).`,
    'On Linux (x64, arm64) Node 24 comes with the packages. Elsewhere put Node 24 first on the PATH:',
    '  brew install node@24 (macOS), nvm install 24, fnm install 24, or a download from nodejs.org',
    'and run this command again.',
  );
}
