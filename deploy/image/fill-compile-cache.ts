import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const RUN_MS_MAX = 120_000;
const POLL_MS = 50;
/** Programs of their own, which work as soon as they are loaded. */
const PROGRAM = /(^|\/)(main|[a-z-]+-(worker|thread))\.js$|\/child\//;

/**
 * Fills the folder in NODE_COMPILE_CACHE with the compiled code of the programs below a folder: the modules of a start
 * of all services and of a call of the command line, and then each further module.
 */
async function fillCompileCache(root: string): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-start-'));
  try {
    await startAndStop(root, folder);
    await waitForExit(run(path.join(root, 'deploy/cli/main.js'), ['--help']));
    await waitForExit(run(writeModuleLoader(root, folder)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Node keeps the functions that ran, so a start is worth more than the modules that it loads. */
async function startAndStop(root: string, folder: string): Promise<void> {
  const listen = `127.0.0.1:${await findFreePort()}`;
  const config = path.join(folder, 'reelgate.yaml');
  const settings = { public_url: `http://${listen}`, data_dir: path.join(folder, 'data'), gateway: { listen } };
  writeFileSync(config, JSON.stringify({ ...settings, models: {}, channels: [] }));
  const program = run(path.join(root, 'deploy/program/main.js'), [], { REELGATE_CONFIG: config });
  const ended = waitForExit(program);
  await Promise.race([ended, waitUntilReady(`http://${listen}/readyz`, AbortSignal.timeout(RUN_MS_MAX))]);
  program.kill('SIGTERM');
  await ended;
}

async function waitUntilReady(address: string, limit: AbortSignal): Promise<void> {
  while (!(await isReady(address))) await wait(POLL_MS, undefined, { signal: limit });
}

const isReady = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    get(address, { timeout: RUN_MS_MAX }, (response) => resolve(response.resume().statusCode === 200)).on('error', () =>
      resolve(false),
    );
  });

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A script that loads every module under the flags of the programs: V8 takes compiled code only under its own flags. */
function writeModuleLoader(root: string, folder: string): string {
  const modules = globSync('{services/*,services/media/picture-decoder}/src/**/*.js', { cwd: root })
    .concat(globSync('services/tasks/adapter-kit/*.js', { cwd: root }))
    .concat(globSync('deploy/{program,cli,local/sandbox}/**/*.js', { cwd: root }))
    .filter((file) => !PROGRAM.test(file));
  const script = path.join(folder, 'every-module.mjs');
  const urls = modules.map((file) => pathToFileURL(path.join(root, file)).href);
  writeFileSync(
    script,
    `import { setV8Flags } from ${JSON.stringify(pathToFileURL(path.join(root, 'deploy/program/runtime/v8-flags.js')).href)};
    setV8Flags();
    for (const url of ${JSON.stringify(urls)}) await import(url);
    process.exit();`,
  );
  return script;
}

function run(
  script: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): ReturnType<typeof spawn> {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: RUN_MS_MAX,
  });
}

async function waitForExit(child: ReturnType<typeof spawn>): Promise<void> {
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${String(code)}`);
}

const [root] = process.argv.slice(2);
if (root === undefined || process.env['NODE_COMPILE_CACHE'] === undefined)
  throw new Error('usage: NODE_COMPILE_CACHE=FOLDER node fill-compile-cache.ts FOLDER');
await fillCompileCache(root);
