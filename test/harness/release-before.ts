import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = path.join(import.meta.dirname, '../..');
const LOCK_FILE = 'package-lock.json';
const LOCK_BYTES_MAX = 64 * 1024 * 1024;
const GIT_TIMEOUT_MS = 60_000;
/** What a release runs. */
const PARTS = ['package.json', LOCK_FILE, 'deploy', 'proto', 'services'];
const WORKSPACES = '@reelgate';
const MODULES = 'node_modules';
/** The packages that npm could not put into the folder of the root. */
const NESTED_MODULES = ['services/gateway', 'services/platform'];

/**
 * The commit of the release before. The commit that publishes a release sets this to the commit of the release that
 * was published before it. Its console needs uPlot, which is a development package here until then.
 */
const RELEASE_BEFORE = 'd4cbda95ae14c5b13a593b98b564f87ad5fb4922';

/** The sources of a release, which run with the packages of this checkout. */
export interface ExtractedRelease {
  readonly commit: string;
  /** The folder that has `deploy/program/main.ts`. */
  readonly folder: string;
  remove(): void;
}

/** Extracts a release of this repository into a folder of its own. */
export async function extractRelease(commit: string = RELEASE_BEFORE): Promise<ExtractedRelease> {
  await expectSameLock(commit);
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-release-'));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const archive = path.join(folder, 'release.tar');
    await git('archive', `--output=${archive}`, commit, '--', ...PARTS);
    await run('tar', ['-x', '-f', archive, '-C', folder], { timeout: GIT_TIMEOUT_MS });
    rmSync(archive);
    linkPackages(folder);
  } catch (error) {
    remove();
    throw error;
  }
  return { commit, folder, remove };
}

/** Reads the version of each package by its place, without those of the repository itself. */
function readPackages(lock: string): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, { readonly integrity?: string }>> };
  return new Map(
    Object.entries(packages).flatMap(([at, { integrity }]) => (integrity === undefined ? [] : [[at, integrity]])),
  );
}

/** Both releases run with the packages of this checkout, which may have more than the release. */
async function expectSameLock(commit: string): Promise<void> {
  await git('cat-file', '-e', `${commit}^{commit}`).catch((error: unknown) => {
    throw new Error(
      `release ${commit}: its commit is not in this clone; fetch it: git fetch --depth=1 origin ${commit}`,
      { cause: error },
    );
  });
  const [before, now] = [await git('show', `${commit}:${LOCK_FILE}`), readFileSync(path.join(ROOT, LOCK_FILE), 'utf8')];
  const packages = readPackages(now);
  const missing = [...readPackages(before)].filter(([at, locked]) => packages.get(at) !== locked).map(([at]) => at);
  if (missing.length > 0)
    throw new Error(
      `release ${commit}: this checkout has not its ${missing.join(', ')}, so it cannot run with the packages of this ` +
        'checkout; name a release with the same packages in RELEASE_BEFORE',
    );
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: ROOT, timeout: GIT_TIMEOUT_MS, maxBuffer: LOCK_BYTES_MAX });
  return stdout;
}

/** Links the packages of this checkout, except its own workspaces: their names lead to those of the release. */
function linkPackages(folder: string): void {
  const modules = path.join(folder, MODULES);
  mkdirSync(path.join(modules, WORKSPACES), { recursive: true });
  for (const name of readdirSync(path.join(ROOT, MODULES)))
    if (name !== WORKSPACES && !name.startsWith('.'))
      symlinkSync(path.join(ROOT, MODULES, name), path.join(modules, name));
  const { workspaces } = readPackage(folder, '') as { workspaces: readonly string[] };
  for (const workspace of workspaces) {
    const { name } = readPackage(folder, workspace) as { name: string };
    symlinkSync(path.join(folder, workspace), path.join(modules, name));
  }
  for (const workspace of NESTED_MODULES)
    symlinkSync(path.join(ROOT, workspace, MODULES), path.join(folder, workspace, MODULES));
}

function readPackage(folder: string, workspace: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, workspace, 'package.json'), 'utf8'));
}
