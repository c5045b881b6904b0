import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePorts } from '../harness/free-ports.ts';

const ROOT = path.join(import.meta.dirname, '../..');
export const START_TIMEOUT_MS = 120_000;

/** The default configuration with other ports and a data folder of its own. */
export async function defaultConfigIn(dir: string): Promise<string> {
  const text = readFileSync(path.join(ROOT, 'deploy/local/reelgate.yaml'), 'utf8');
  const ports = [...new Set([...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port ?? ''))];
  const free = await freePorts(ports.length);
  const file = path.join(dir, 'reelgate.yaml');
  writeFileSync(
    file,
    ports
      .reduce((moved, port, index) => moved.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${String(free[index])}`), text)
      .replace('../../data', './data'),
  );
  return file;
}

/** Starts the one program with this configuration. `ready` is what it prints until it is ready. */
export function start(file: string): { child: ChildProcess; ready: Promise<string> } {
  const environment = {
    ...process.env,
    NODE_OPTIONS: '',
    REELGATE_CONFIG: file,
    NATS_URL: '',
    REDIS_URL: '',
    REELGATE_API_KEY: '',
  };
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', path.join(ROOT, 'deploy/program/main.ts')],
    { env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  const ready = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready: ${printed}`)), START_TIMEOUT_MS);
    child.stdout.on('data', (part: Buffer) => {
      printed += part.toString();
      if (!/^ready: /m.test(printed)) return;
      clearTimeout(timer);
      setImmediate(() => resolve(printed));
    });
    child.stderr.on('data', (part: Buffer) => {
      printed += part.toString();
    });
    child.once('exit', (code) => reject(new Error(`ended with ${String(code)}: ${printed}`)));
  });
  return { child, ready };
}

export const stop = (child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
