import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../harness/client.ts';
import { freePorts } from '../harness/free-ports.ts';
import { KEYS } from '../harness/test-config.ts';
import { startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import type { Line } from './table.ts';
import { requestOf } from './wire.ts';

const WAITS = 1000;
/** Each loads what a first call needs. */
const WARM_UPS = 50;
const SETTLE_MS = 4000;
const PAUSE_MS = 20;
const OPEN_MS_MAX = 20_000;
const KIB = 1024;
const REVISION = '2026-07-28';
const GOAL = '30 KiB';

/** A way to wait for a video, as the bytes of its request. */
interface Way {
  readonly what: string;
  request(taskId: string): Buffer;
}

const tool = (taskId: string, meta: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'video_wait', arguments: { id: taskId, seconds: 50 }, _meta: meta },
});
const ACCEPT = 'accept: application/json, text/event-stream';
const mcpRequest = (body: object, headers: readonly string[]): Buffer =>
  requestOf({ method: 'POST', target: '/mcp', token: KEYS.demo, body, headers: [ACCEPT, ...headers] });
const newest = (taskId: string, meta: object): Buffer =>
  mcpRequest(
    tool(taskId, {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
      ...meta,
    }),
    [`mcp-protocol-version: ${REVISION}`, 'mcp-method: tools/call', 'mcp-name: video_wait'],
  );

const HTTP: Way = {
  what: 'HTTP',
  request: (taskId) =>
    requestOf({ method: 'GET', target: `/v1/videos/${taskId}`, token: KEYS.demo, headers: ['prefer: wait=50'] }),
};
const WAYS: readonly Way[] = [
  { what: REVISION, request: (taskId) => newest(taskId, {}) },
  { what: `${REVISION} with progress`, request: (taskId) => newest(taskId, { progressToken: 1 }) },
  { what: '2025-11-25', request: (taskId) => mcpRequest(tool(taskId, {}), ['mcp-protocol-version: 2025-11-25']) },
];

/** Bytes of one wait. */
interface WaitMemory {
  /** Live memory of the first waits, for which the heap grows. */
  readonly first: number;
  /** The same of as many more. */
  readonly more: number;
  /** Resident memory of all. */
  readonly resident: number;
}

/** What an open wait over MCP holds in the gateway, beside the same by HTTP. Each way has a program of its own. */
export async function mcpWaitsBench(): Promise<readonly Line[]> {
  const baseline = await measure(HTTP);
  const lines: Line[] = [];
  for (const way of WAYS) {
    const product = await measure(way);
    const line = (what: string, part: keyof WaitMemory): Line => ({
      what: `${what} of a wait over MCP ${way.what} (baseline: by HTTP)`,
      figure: product[part] / KIB,
      baseline: baseline[part] / KIB,
      unit: 'KiB',
      ...(part !== 'resident' && { goal: GOAL }),
    });
    lines.push(
      line(`live memory, the first ${WAITS},`, 'first'),
      line(`live memory, ${WAITS} more,`, 'more'),
      line('resident memory', 'resident'),
    );
  }
  return lines;
}

async function measure(way: Way): Promise<WaitMemory> {
  const [inspector = 0] = await freePorts(1);
  const bench = await startBenchProgram('one program', {
    environment: { NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}` },
  });
  const sockets: Socket[] = [];
  try {
    const taskId = await newRunningTask(bench);
    const open = async (count: number): Promise<void> => {
      const before = await countWaits(bench);
      const opened = Array.from({ length: count }, () => connect({ port: bench.port, host: '127.0.0.1' }));
      for (const socket of opened) socket.on('error', () => undefined).write(way.request(taskId));
      sockets.push(...opened);
      const until = performance.now() + OPEN_MS_MAX;
      while ((await countWaits(bench)) < before + count) {
        if (performance.now() > until) throw new Error(`not all waits of ${way.what} are open`);
        await wait(PAUSE_MS);
      }
    };
    const settled = async (): Promise<Memory> => {
      await wait(SETTLE_MS);
      return readMemory(bench, inspector);
    };
    await open(WARM_UPS);
    const none = await settled();
    await open(WAITS);
    const some = await settled();
    await open(WAITS);
    const all = await settled();
    return {
      first: (some.live - none.live) / WAITS,
      more: (all.live - some.live) / WAITS,
      resident: (all.resident - none.resident) / WAITS / 2,
    };
  } finally {
    for (const socket of sockets) socket.destroy();
    await bench.end();
  }
}

/** By HTTP the start of the work would end a wait, so it has begun before. */
async function newRunningTask({ program }: BenchProgram): Promise<string> {
  const caller = httpCaller(program.base, KEYS.demo);
  const id = await caller.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5' });
  const headers = { authorization: `Bearer ${KEYS.demo}` };
  const read = async (): Promise<string> => (await fetch(`${program.base}/v1/videos/${id}`, { headers })).text();
  while (!(await read()).includes('in_progress')) await wait(PAUSE_MS);
  return id;
}

async function countWaits({ program }: BenchProgram): Promise<number> {
  const text = await (await fetch(`http://${program.config.gateway.admin}/metrics`)).text();
  return Number(/^reelgate_gateway_waiting_reads (\d+)$/m.exec(text)?.[1] ?? 0);
}

interface Memory {
  /** Of the heap and beside it, after a collection. */
  readonly live: number;
  /** As Linux counts it, after a collection; NaN elsewhere. */
  readonly resident: number;
}

/** Reads the memory of a process over its inspector. */
async function readMemory(bench: BenchProgram, inspector: number): Promise<Memory> {
  const [target] = (await (await fetch(`http://127.0.0.1:${inspector}/json/list`)).json()) as {
    readonly webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(target!.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const ask = (method: string): Promise<Readonly<Record<string, number>>> =>
    new Promise((resolve) => {
      const id = Math.trunc(performance.now() * 1000);
      socket.addEventListener('message', ({ data }) => {
        const answer = JSON.parse(String(data)) as { readonly id?: number; readonly result: Record<string, number> };
        if (answer.id === id) resolve(answer.result);
      });
      socket.send(JSON.stringify({ id, method }));
    });
  try {
    await ask('HeapProfiler.collectGarbage');
    await ask('HeapProfiler.collectGarbage');
    const { usedSize = 0, embedderHeapUsedSize = 0, backingStorageSize = 0 } = await ask('Runtime.getHeapUsage');
    return { live: usedSize + embedderHeapUsedSize + backingStorageSize, resident: residentBytes(bench) };
  } finally {
    socket.close();
  }
}

/** As Linux counts it; NaN elsewhere. */
function residentBytes(bench: BenchProgram): number {
  if (process.platform !== 'linux') return Number.NaN;
  return bench.program
    .pids()
    .map((pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * KIB)
    .reduce((sum, bytes) => sum + bytes, 0);
}
