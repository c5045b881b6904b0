import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../harness/free-ports.ts';
import { notInstalled, untilAnswering } from './peer.ts';
import type { NotInstalled, PeerProgram } from './peer.ts';

const PACKAGE = '@portkey-ai/gateway';
const VERSION = '1.15.2';
const INSTALL_TIMEOUT_MS = 300_000;

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

/**
 * Installs Portkey in the system's temporary folder if it is not there yet: without install scripts, and never as a
 * dependency. It has no holds, no tokens and no counters.
 */
export async function installPortkey(): Promise<PeerProgram | NotInstalled> {
  const folder = path.join(tmpdir(), `reelgate-bench-portkey-${VERSION}`);
  const program = path.join(folder, 'node_modules', PACKAGE, 'build/start-server.js');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
    try {
      await promisify(execFile)(
        'npm',
        ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`],
        { cwd: folder, timeout: INSTALL_TIMEOUT_MS },
      );
    } catch (error) {
      return notInstalled(error);
    }
  }
  return { start: (kind, upstreamPort) => start(program, kind, upstreamPort) };
}

/** JSON is measured on the published package. Only streams need the mended headers. */
async function start(program: string, kind: 'JSON' | 'SSE', upstreamPort: number): ReturnType<PeerProgram['start']> {
  const [port = 0] = await freePorts(1);
  const preloads = [LOOPBACK_ONLY, ...(kind === 'SSE' ? [HEADERS_THAT_CHANGE] : [])];
  const imports = preloads.flatMap((source) => ['--import', `data:text/javascript,${encodeURIComponent(source)}`]);
  const child = spawn(process.execPath, [...imports, program, `--port=${port}`, '--headless'], {
    stdio: 'ignore',
  });
  await untilAnswering(child, port);
  return {
    port,
    pid: child.pid ?? 0,
    headers: ['x-portkey-provider: openai', `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`],
    stop: () => child.kill('SIGKILL'),
  };
}
