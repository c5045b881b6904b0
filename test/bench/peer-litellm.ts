import { execFile, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../harness/free-ports.ts';
import { KEYS } from '../harness/test-config.ts';
import { notInstalled, untilAnswering } from './peer.ts';
import type { NotInstalled, PeerProgram } from './peer.ts';
import { UPSTREAM_MODEL } from './chat-request.ts';

/** A release before 1.107, whose packages were withdrawn. */
const VERSION = '1.106.0';
const INSTALL_TIMEOUT_MS = 600_000;
/** Without these it fetches a list of prices, reports its use, and does not start for want of a key. */
const ENVIRONMENT = {
  LITELLM_MASTER_KEY: KEYS.demo,
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  LITELLM_TELEMETRY: 'False',
  LITELLM_LOG: 'ERROR',
};

/**
 * Installs LiteLLM in a virtual environment in the system's temporary folder if it is not there yet: wheels only, and
 * never as a dependency.
 */
export async function installLitellm(): Promise<PeerProgram | NotInstalled> {
  const folder = path.join(tmpdir(), `reelgate-bench-litellm-${VERSION}`);
  const complete = path.join(folder, 'complete');
  const program = path.join(folder, 'bin/litellm');
  if (!existsSync(complete)) {
    const run = promisify(execFile);
    const options = { timeout: INSTALL_TIMEOUT_MS };
    try {
      await run('python3', ['-m', 'venv', '--clear', folder], options);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
      await run(path.join(folder, 'bin/python'), [...pip, `litellm[proxy]==${VERSION}`], options);
      writeFileSync(complete, '');
    } catch (error) {
      return notInstalled(error);
    }
  }
  return { start: (_kind, upstreamPort) => start(program, folder, upstreamPort) };
}

/** One worker, as it comes, with one key, and without a database or logs. */
async function start(program: string, folder: string, upstreamPort: number): ReturnType<PeerProgram['start']> {
  const [port = 0] = await freePorts(1);
  const config = path.join(folder, `config-${port}.json`);
  const parameters = {
    model: `openai/${UPSTREAM_MODEL}`,
    api_base: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: 'some-key',
  };
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: UPSTREAM_MODEL, litellm_params: parameters }] }));
  const child = spawn(program, ['--config', config, '--host', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
    env: { ...process.env, ...ENVIRONMENT },
  });
  await untilAnswering(child, port);
  return { port, pid: child.pid ?? 0, headers: [], stop: () => child.kill('SIGKILL') };
}
