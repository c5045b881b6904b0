import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { byTurns, ROUNDS } from '../load.ts';
import type { Line } from '../table.ts';
import { startBareStream } from './bare-stream.ts';
import { downloads } from './download.ts';

const MIB = 2 ** 20;
const BYTES = 256 * MIB;
const PROXY = path.join(import.meta.dirname, 'bytes-proxy.ts');

interface Proxy {
  readonly port: number;
  stop(): Promise<void>;
}

/** Bytes between the services: the gateway's `bytes-client` and undici, each as a proxy in a process of its own. */
export async function internalBytesBench(): Promise<readonly Line[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-bytes-'));
  const file = path.join(folder, 'video');
  writeFileSync(file, Buffer.alloc(BYTES, 'reelgate'));
  const origin = await startBareStream(file);
  const [own, undici] = [await startProxy('bytes-client', origin.port), await startProxy('undici', origin.port)];
  try {
    const lines: Line[] = [];
    for (const atOnce of [1, 8]) {
      const speed = async (port: number): Promise<number> => (await downloads(port, '/', atOnce)).bytesPerSecond / MIB;
      const { baseline, product } = await byTurns(
        ROUNDS,
        () => speed(undici.port),
        () => speed(own.port),
      );
      lines.push({
        what: `bytes between services, 256 MiB, ${atOnce} at once; baseline: undici`,
        figure: product,
        unit: 'MiB/s',
        baseline,
        goal: 'more than 1.10, or undici it is',
      });
    }
    return lines;
  } finally {
    await Promise.all([own.stop(), undici.stop(), origin.stop()]);
    rmSync(folder, { recursive: true });
  }
}

async function startProxy(client: string, origin: number): Promise<Proxy> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROXY, client, String(origin)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString()),
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
