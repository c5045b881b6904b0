import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { missingForRendered } from './rendered-cluster.ts';

/*
 * Runs the black-box suite of the contract against the rendered Deployments:
 *   node test/cluster/contract-suite.ts ../shared/contract/run.mjs [arguments of the suite]
 * The suite starts `npm start` in a folder. This gives it a folder whose `npm start` is contract-world.ts.
 */
const ROOT = path.join(import.meta.dirname, '../..');
const START_TIMEOUT_S = 300;
const NODE = `${process.execPath} --disable-warning=ExperimentalWarning`;

const [suite, ...args] = process.argv.slice(2);
const missing = missingForRendered();
if (suite === undefined || missing !== undefined) {
  console.error(missing ?? 'usage: node test/cluster/contract-suite.ts SUITE [arguments of the suite]');
  process.exitCode = 2;
} else process.exitCode = await run(suite);

async function run(program: string): Promise<number> {
  const project = mkdtempSync(path.join(tmpdir(), 'reelgate-contract-'));
  const scripts = {
    start: `exec ${NODE} ${path.join(ROOT, 'test/cluster/contract-world.ts')}`,
    reelgate: `exec ${NODE} ${path.join(ROOT, 'deploy/cli/main.ts')}`,
  };
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ name: 'contract', private: true, scripts }));
  const given = ['--project', project, '--start-timeout', String(START_TIMEOUT_S), ...args];
  const child = spawn(process.execPath, [program, ...given], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  rmSync(project, { recursive: true, force: true });
  return code ?? 1;
}
