import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePorts } from '../harness/free-ports.ts';

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const START_TIMEOUT_MS = 20_000;

/** Portkey has no setting for its listen address and listens on every address. This patch restricts it to loopback. */
const LOOPBACK_ONLY = `
import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  const callbacks = rest.filter((one) => typeof one === 'function');
  return listen.call(this, { port: Number(port), host: '127.0.0.1' }, ...callbacks);
};
`;

/** Portkey changes immutable headers, so it answers every stream with 500 (its issues #1389, #1550). This mends it. */
const HEADERS_THAT_CHANGE = `
const { get } = Object.getOwnPropertyDescriptor(Response.prototype, 'headers');
const copies = new WeakMap();
Object.defineProperty(Response.prototype, 'headers', { configurable: true, get() {
  const copy = copies.get(this) ?? new Headers(get.call(this));
  copies.set(this, copy);
  return copy;
} });
`;

/** Another relay for comparison. It has no holds, no tokens and no counters. */
export interface Portkey {
  readonly port: number;
  readonly pid: number;
  /** The headers that a request needs, besides the client's own, to reach that upstream. */
  headersTo(upstreamPort: number): readonly string[];
  stop(): void;
}

/**
 * Installs Portkey in the system's temporary folder if it is not there yet: without install scripts, and never as a
 * dependency. Undefined if the installation fails.
 */
export async function installPortkey(): Promise<string | undefined> {
  const folder = path.join(tmpdir(), `reelgate-bench-portkey-${VERSION}`);
  const program = path.join(folder, 'node_modules', PACKAGE, 'build/start-server.js');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  try {
    await promisify(execFile)(
      'npm',
      ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`],
      { cwd: folder },
    );
  } catch {
    return undefined;
  }
  return existsSync(program) ? program : undefined;
}

/** JSON is measured on the published package. Only streams need the mended headers. */
export async function startPortkey(program: string, kind: 'JSON' | 'SSE'): Promise<Portkey> {
  const [port = 0] = await freePorts(1);
  const preloads = [LOOPBACK_ONLY, ...(kind === 'SSE' ? [HEADERS_THAT_CHANGE] : [])];
  const imports = preloads.flatMap((source) => ['--import', `data:text/javascript,${encodeURIComponent(source)}`]);
  const child = spawn(process.execPath, [...imports, program, `--port=${String(port)}`, '--headless'], {
    stdio: 'ignore',
  });
  await untilListening(child, port);
  return {
    port,
    pid: child.pid ?? 0,
    headersTo: (upstreamPort) => [
      'x-portkey-provider: openai',
      `x-portkey-custom-host: http://127.0.0.1:${String(upstreamPort)}/v1`,
    ],
    stop: () => child.kill('SIGKILL'),
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('the other relay did not start');
    const answers = await fetch(`http://127.0.0.1:${String(port)}/`, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await wait(100);
  }
}
