import { setTimeout as wait } from 'node:timers/promises';
import { httpCaller } from '../../harness/client.ts';
import type { Answer, HttpCaller } from '../../harness/client.ts';
import { KEYS } from '../../harness/test-config.ts';
import { startBenchProgram } from '../bench-program.ts';
import type { BenchProgram } from '../bench-program.ts';
import { MODEL } from '../chat-request.ts';
import { memoryMiB } from '../media/memory.ts';
import { startRelayBaseline } from '../relay-baseline.ts';
import type { Line } from '../table.ts';
import { KINDS, newMinutes } from './minutes.ts';
import type { Minutes } from './minutes.ts';

const MINUTE_MS = 60_000;
/** Enough that the memory of the program has grown to what the load needs by the fifth minute. */
const CREATE_EVERY_MS = 200;
const RELAY_EVERY_MS = 20;
const MEMORY_EVERY_MS = 2000;
const READ_EVERY_MS = 1000;
/** How long a task runs at the upstream, and how often it is seen whether it has ended. */
const RUN_TICKS = 10;
const TICK_MS = 500;
const READS_MAX = 60;
/** The minute that is compared with the last one; of a short soak, the middle. */
const WARM_MINUTE = 5;
/** Between two minutes whose memory is shown. */
const SHOWN_EVERY = 2;
const MESSAGES = [{ role: 'user', content: `say hello; ${'the camera glides over the water. '.repeat(20)}` }];

/** Mixed load: creates, polls of each task until it ends, its download, and relayed calls, whole and as streams. */
export async function soakBench(minutes: number): Promise<readonly Line[]> {
  const relay = await startRelayBaseline();
  try {
    const bench = await startBenchProgram('one program', { relayTo: relay.port });
    try {
      const seen = newMinutes();
      await load(bench, seen, minutes * MINUTE_MS);
      const { code, err } = await bench.program.command('ledger', 'verify');
      if (code !== 0) throw new Error(`the ledger does not balance: ${err}`);
      return linesOf(seen, minutes);
    } finally {
      await bench.end();
    }
  } finally {
    relay.stop();
  }
}

async function load(bench: BenchProgram, seen: Minutes, ms: number): Promise<void> {
  const caller = httpCaller(bench.program.base, KEYS.demo);
  const ending = AbortSignal.timeout(ms);
  const ended = new AbortController();
  const upstream = endTasks(bench, ended.signal);
  await Promise.all([
    every(CREATE_EVERY_MS, ending, () => lifeOf(caller, seen)),
    every(RELAY_EVERY_MS, ending, (turn) =>
      seen.timed('relayed call', async () => {
        const body = { model: MODEL, messages: MESSAGES, max_tokens: 100, stream: turn % 2 === 1 };
        return ok(await caller.call('POST', '/v1/chat/completions', body));
      }),
    ),
    every(MEMORY_EVERY_MS, ending, () => {
      seen.memory(memoryMiB(bench.program.pids()));
    }),
  ]).finally(() => {
    ended.abort();
  });
  await upstream;
}

/** Ends the tasks of the upstream in the order of their creates, each some ticks after its own. */
async function endTasks({ upstream }: BenchProgram, stopped: AbortSignal): Promise<void> {
  const counts: number[] = [];
  let next = 0;
  while (!stopped.aborted) {
    await wait(TICK_MS);
    counts.push(upstream.ids.length);
    const due = counts.length > RUN_TICKS ? counts.shift()! : 0;
    for (; next < due; next += 1) upstream.complete(upstream.ids[next]!);
  }
}

/** Begins the work at each of these times, even if earlier work goes on. Waits for all of it at the end. */
export async function every(ms: number, ending: AbortSignal, work: (turn: number) => unknown): Promise<void> {
  const under = new Set<Promise<unknown>>();
  const start = performance.now();
  for (let turn = 0; !ending.aborted; turn += 1) {
    await wait(Math.max(0, start + turn * ms - performance.now()));
    const one = Promise.resolve(work(turn)).finally(() => under.delete(one));
    under.add(one);
  }
  await Promise.all(under);
}

/** A create, reads until the task has ended, and the download of its result. */
async function lifeOf(caller: HttpCaller, seen: Minutes): Promise<void> {
  const order = { model: 'Alpha-H3', prompt: 'a red boat at dawn', seconds: '5', size: '1280x720' };
  const id = await seen.timed('create', async () => {
    const { json } = ok(await caller.call('POST', '/v1/videos', order));
    return (json as { id: string }).id;
  });
  if (id === undefined) return;
  for (let reads = 0; reads < READS_MAX; reads += 1) {
    await wait(READ_EVERY_MS);
    const status = await seen.timed('status read', async () => {
      const { json } = ok(await caller.call('GET', `/v1/videos/${id}`));
      return (json as { status: string }).status;
    });
    if (status === 'completed') break;
  }
  await seen.timed('download', async () => {
    const { text } = ok(await caller.call('GET', `/v1/videos/${id}/content`));
    if (text.length === 0) throw new Error('an empty video');
  });
}

function ok(answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`an answer of ${answer.status}: ${answer.text.slice(0, 200)}`);
  return answer;
}

function linesOf(seen: Minutes, minutes: number): readonly Line[] {
  const warm = Math.min(WARM_MINUTE, Math.max(1, Math.floor(minutes / 2)));
  const beside = `minute ${minutes} (baseline: minute ${warm})`;
  return [
    ...KINDS.map((kind) => ({ what: `soak: calls, ${kind}`, figure: seen.calls(kind), unit: '' })),
    { what: 'soak: calls that failed', figure: seen.failed(), unit: '', goal: '0' },
    ...seen.messages().map((message) => ({ what: 'soak: a failed call', failed: message })),
    // One minute says little: the memory moves with the collections of the heap.
    ...laterMinutes(minutes, warm).map((minute) => ({
      what: `soak: memory, minute ${minute} (baseline: minute ${warm})`,
      figure: seen.memoryIn(minute),
      baseline: seen.memoryIn(warm),
      unit: 'MiB',
      goal: 'flat',
    })),
    ...KINDS.map((kind) => ({
      what: `soak: p99 of a ${kind}, ${beside}`,
      figure: seen.latency(0.99, kind, minutes),
      baseline: seen.latency(0.99, kind, warm),
      unit: 'ms',
      goal: 'ratio 1',
    })),
  ];
}

function laterMinutes(minutes: number, warm: number): readonly number[] {
  return Array.from({ length: minutes - warm }, (_, index) => warm + 1 + index).filter(
    (minute) => (minutes - minute) % SHOWN_EVERY === 0,
  );
}
