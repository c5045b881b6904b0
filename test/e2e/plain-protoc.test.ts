import { execFile } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { goToolchain, pythonWith } from '../harness/toolchains.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const PROTO = path.join(ROOT, 'proto');
const EXAMPLE = path.join(ROOT, 'deploy/examples/grpc-go');
const MODULE = 'reelgate.example/contracts';
/** Includes the build of the plugins. */
const RUN_TIMEOUT_MS = 240_000;

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-protoc-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Python brings a protoc of its own, with no mapping of ours. */
const python = await pythonWith(
  ['grpc_tools'],
  [path.join(ROOT, 'deploy/examples/grpc-python/requirements.txt')],
  folder,
);
const go = await goToolchain(EXAMPLE);
const missing = [python, go].flatMap((one) => ('missing' in one ? [one.missing] : []));
if (missing.length > 0) process.stderr.write(`skipped: plain protoc: ${missing.join(', ')}\n`);

const run = async (file: string, args: readonly string[], cwd: string): Promise<string> =>
  (await promisify(execFile)(file, args, { cwd, timeout: RUN_TIMEOUT_MS })).stdout.trim();

(missing.length > 0 ? test.skip : test)(
  'plain protoc makes Go code from the contracts without a mapping, and the code compiles',
  async () => {
    if ('missing' in python || 'missing' in go) return;
    const contracts = path.join(folder, 'contracts');
    mkdirSync(contracts);
    // the versions of the example, under the name that the contracts give their code
    cpSync(path.join(EXAMPLE, 'go.sum'), path.join(contracts, 'go.sum'));
    const versions = readFileSync(path.join(EXAMPLE, 'go.mod'), 'utf8');
    writeFileSync(path.join(contracts, 'go.mod'), versions.replace(/^module .*$/m, `module ${MODULE}`));
    const plugins = await Promise.all(
      ['go', 'go-grpc'].map(async (name) => {
        const at = await run(go.file, ['tool', '-n', `protoc-gen-${name}`], EXAMPLE);
        return [`--plugin=protoc-gen-${name}=${at}`, `--${name}_out=${contracts}`, `--${name}_opt=module=${MODULE}`];
      }),
    );
    const protos = globSync('reelgate/**/*.proto', { cwd: PROTO });

    await run(python.file, ['-m', 'grpc_tools.protoc', '-I', PROTO, ...plugins.flat(), ...protos], PROTO);
    const packages = await run(go.file, ['list', './...'], contracts);
    await run(go.file, ['build', './...'], contracts);

    expect(packages.split('\n')).toContain(`${MODULE}/tasks/v1`);
  },
  RUN_TIMEOUT_MS,
);
