import { execFileSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { installDebianPackages } from '../servers/debian-packages.ts';
import { findProgram } from '../servers/find-program.ts';
import { contextFiles } from './context-files.ts';
import { ROOT, readDockerfile } from './dockerfile.ts';
import { cachedLayer, digestOf } from './layer-cache.ts';
import { productionPackages } from './production-packages.ts';
import { inRoot } from './run-in-root.ts';

const COPY_PROGRAMS = path.join(ROOT, 'deploy/image/copy-programs.sh');
const STRIP_TYPES = path.join(ROOT, 'deploy/image/strip-types.ts');
const FILL_COMPILE_CACHE = path.join(ROOT, 'deploy/image/fill-compile-cache.ts');
/** A folder of the root that is empty, for the scripts of the build. */
const BUILD_FOLDER = '/etc/reelgate';
/** Packages and files that only the build uses. */
const TRANSFORM = ['node_modules/esbuild', 'node_modules/@esbuild', 'deploy/README.md'];
const COPY_TIMEOUT_MS = 2 * 60_000;
const FILL_TIMEOUT_MS = 3 * 60_000;
/** What the Dockerfile adds to the base image, and the Debian packages of it. */
const ADDED = ['ffmpeg', 'tini'];
/** The programs of the base image that the services, their scripts and an operator in the container use. */
const OF_BASE = [
  ...['sh', 'true', 'env', 'cat', 'ls', 'id', 'sleep', 'mkdir', 'rm', 'touch', 'head', 'date'],
  ...['unshare', 'setpriv', 'perl'],
].map((name) => `/usr/bin/${name}`);
/** The modules of the essential package of Perl, of which Debian has a folder for each processor. */
const PERL_MODULES = globSync('/usr/lib/*/perl-base');
const MERGED = ['bin', 'sbin', 'lib', 'lib64'];
/** A container engine mounts over these, also where the root is read-only. */
const MOUNT_FOLDERS = ['proc', 'sys', 'dev', 'tmp', 'run/secrets', 'etc/reelgate', 'var/tmp', 'root'];
const MOUNT_FILES = ['etc/hosts', 'etc/hostname', 'etc/resolv.conf'];
const ACCOUNTS = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nreelgate:x:65532:65532::/tmp:/usr/sbin/nologin\n',
  'etc/group': 'root:x:0:\nreelgate:x:65532:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};

/** Why the root cannot be built on this machine; undefined: it can. */
export function missingForRoot(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can build and enter it';
  const missing = ADDED.filter((name) => findProgram(name) === undefined);
  const failure = missing.length === 0 ? undefined : installDebianPackages(missing);
  return failure ?? (findProgram('dpkg') === undefined ? 'there is no dpkg' : undefined);
}

/**
 * Builds the file system of the image without a container engine, and returns its folder. Node is the one of
 * package-lock.json, programs are those of this machine's Debian, packages and files those of this checkout. The folder
 * is in the cache and shared by all runs: mount it read-only.
 */
export function buildRoot(): string {
  const [programs, packages] = [programsLayer(), packagesLayer()];
  const files = contextFiles(readDockerfile().copies);
  const contents = files.flatMap(({ source, target }) => [target, readFileSync(source)]);
  const parts = ['dockerfile.ts', 'run-in-root.ts'].map((name) => path.join(import.meta.dirname, name));
  const builder = [import.meta.filename, ...parts, STRIP_TYPES, FILL_COMPILE_CACHE].map((file) => readFileSync(file));
  return cachedLayer('image-root', digestOf([programs, packages, ...builder, ...contents]), (into) => {
    // layers are never written to, so their files need no copy
    for (const layer of [programs, packages]) execFileSync('cp', ['-al', `${layer}/.`, into]);
    for (const { source, target } of files) {
      mkdirSync(path.join(into, path.dirname(target)), { recursive: true });
      copyFileSync(source, path.join(into, target));
    }
    precompile(into);
  });
}

/** What the Dockerfile runs after its own files are there. */
function precompile(root: string): void {
  const { folder, environment, user } = readDockerfile();
  execFileSync(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    STRIP_TYPES,
    path.join(root, folder),
    folder,
  ]);
  for (const name of TRANSFORM) rmSync(path.join(root, folder, name), { recursive: true });
  const compiled = environment['NODE_COMPILE_CACHE'] ?? '';
  const own = path.join(root, compiled);
  mkdirSync(own);
  chownSync(own, Number(user.split(':')[0]), Number(user.split(':')[1]));
  const mounts = [
    { from: path.dirname(FILL_COMPILE_CACHE), to: BUILD_FOLDER },
    { from: own, to: compiled, writable: true },
  ];
  const script = path.join(BUILD_FOLDER, path.basename(FILL_COMPILE_CACHE));
  const { file, args, env } = inRoot({ root, mounts }, ['node', script, folder]);
  execFileSync(file, args, { env, timeout: FILL_TIMEOUT_MS, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('chmod', ['-R', 'a+rX', own]);
  execFileSync('chown', ['-R', '0:0', own]);
}

function programsLayer(): string {
  const installed = execFileSync('dpkg-query', ['-W']);
  const inputs = [installed, readFileSync(COPY_PROGRAMS), readFileSync(import.meta.filename), nodePackage()];
  return cachedLayer('image-programs', digestOf(inputs), (into) => {
    for (const name of MERGED) {
      mkdirSync(path.join(into, 'usr', name), { recursive: true });
      symlinkSync(`usr/${name}`, path.join(into, name));
    }
    const node = path.join(into, 'usr/local/bin/node');
    mkdirSync(path.dirname(node), { recursive: true });
    copyFileSync(path.join(ROOT, nodePackage(), 'bin/node'), node);
    const programs = [...ADDED.map((name) => findProgram(name) ?? name), ...OF_BASE];
    execFileSync('sh', [COPY_PROGRAMS, into, ...programs], { timeout: COPY_TIMEOUT_MS, stdio: 'ignore' });
    copyLibrariesOf(node, into);
    for (const folder of PERL_MODULES) cpSync(folder, path.join(into, folder), { recursive: true });
    for (const folder of MOUNT_FOLDERS) mkdirSync(path.join(into, folder), { recursive: true });
    for (const file of MOUNT_FILES) writeFileSync(path.join(into, file), '');
    for (const [file, text] of Object.entries(ACCOUNTS)) writeFileSync(path.join(into, file), text);
    copyFileSync('/etc/os-release', path.join(into, 'etc/os-release'));
  });
}

const nodePackage = (): string => `node_modules/node-linux-${process.arch}`;

/** The base image has Node's libraries. */
function copyLibrariesOf(program: string, into: string): void {
  const found = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+\.so\S*/g) ?? [];
  for (const library of found) {
    const target = path.join(into, library.startsWith('/usr/') ? library : `/usr${library}`);
    if (existsSync(target)) continue;
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(library, target);
  }
}

function packagesLayer(): string {
  const lock = readFileSync(path.join(ROOT, 'package-lock.json'));
  const inputs = [lock, readFileSync(import.meta.filename), process.arch];
  return cachedLayer('image-packages', digestOf(inputs), (into) => {
    for (const location of productionPackages(lock.toString()))
      cpSync(path.join(ROOT, location), path.join(into, 'app', location), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => !source.slice(path.join(ROOT, location).length).includes('/node_modules'),
      });
  });
}

/** As a command: node test/image/build-root.ts */
if (import.meta.main) {
  const missing = missingForRoot();
  console.log(missing === undefined ? buildRoot() : `not built: ${missing}`);
}
