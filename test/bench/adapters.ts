import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { channelFactory } from '../../services/tasks/src/channels/adapter-channel.ts';
import { ADAPTERS } from '../../services/tasks/src/channels/adapters/index.ts';
import type { Channel, PlannedAttempt, PollResult, Submission } from '../../services/tasks/src/channels/channel.ts';
import { channelSettings } from '../../services/tasks/testing/channel-settings.ts';
import { inTurns } from './load.ts';
import { paired } from './rounds.ts';
import type { Line } from './table.ts';

const BASELINE = 'alpha-v2';
const GOAL = '≤ 1.15';
const FIXTURES = path.join(import.meta.dirname, '../../services/tasks/src/channels/adapters');
/** Many short rounds: the differences are small beside those that other work on the machine makes. */
const ADAPTER_ROUNDS = 101;
const CALLS = 64;
/** Calls before the first round, until the compiler has done its work. */
const WARM_UP_ROUNDS = 10;
const IN_FLIGHT = 8;
/** The id of the polled work in the fixtures, and where its form matters another one. */
const UPSTREAM_ID = '424010985738629';
const UPSTREAM_IDS: Readonly<Record<string, string>> = { fal: 'fal-ai/veo3.1/764cabcf-b745-4b3e-ae38-1200304cf45b' };

export interface FixtureAnswer {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
}
export interface FixtureAnswers {
  readonly create: FixtureAnswer;
  readonly poll: FixtureAnswer;
}
/** The microseconds of processor time of a create and of a poll. */
interface CallCosts {
  readonly create: number;
  readonly poll: number;
}

/**
 * The processor time of a create and of a poll through each adapter, beside the same through the vendor's own. A server
 * in another thread answers with the first accepted submission and the first running work of the adapter's fixtures.
 */
export async function adaptersBench(): Promise<readonly Line[]> {
  const names = Object.keys(ADAPTERS);
  const answers = Object.fromEntries(names.map((name) => [name, readAnswers(name)]));
  const upstream = new Worker(new URL('adapter-upstream.ts', import.meta.url), { workerData: answers });
  const [port] = (await once(upstream, 'message')) as [number];
  const channels = new Map(names.map((name) => [name, openChannel(name, port)]));
  const measure = async (name: string): Promise<CallCosts> => measureCalls(name, channels.get(name)!);
  const lines: Line[] = [];
  try {
    for (let round = 0; round < WARM_UP_ROUNDS; round += 1) for (const name of names) await measure(name);
    for (const name of names.filter((one) => one !== BASELINE)) {
      const turns = { baseline: () => measure(BASELINE), product: () => measure(name) };
      const { baseline, product } = await inTurns(ADAPTER_ROUNDS, turns);
      lines.push(...toLines(name, baseline, product));
    }
    return lines;
  } finally {
    await Promise.all([...channels.values()].map((channel) => channel.close()));
    await upstream.terminate();
  }
}

function toLines(name: string, baseline: readonly CallCosts[], product: readonly CallCosts[]): readonly Line[] {
  return (['create', 'poll'] as const).map((call) => ({
    what: `${call} through ${name} (baseline: ${BASELINE}), processor time`,
    ...paired(
      baseline.map((costs) => costs[call]),
      product.map((costs) => costs[call]),
    ),
    unit: 'us',
    goal: GOAL,
  }));
}

function readCases<Case>(name: string, file: string): readonly Case[] {
  return JSON.parse(readFileSync(path.join(FIXTURES, `${name}.fixtures`, `${file}.json`), 'utf8')) as Case[];
}

function readAnswers(name: string): FixtureAnswers {
  const created = readCases<{ answer: FixtureAnswer; submission: Submission }>(name, 'submit-answers');
  const polled = readCases<{ answer: FixtureAnswer; polled: PollResult }>(name, 'polls');
  const create = created.find(({ submission }) => submission.outcome === 'accepted')?.answer;
  const poll = polled.find((one) => one.polled.found && one.polled.report.phase === 'running')?.answer;
  if (create === undefined || poll === undefined) throw new Error(`the fixtures of ${name} lack an answer`);
  return { create, poll };
}

function openChannel(name: string, port: number): Channel {
  const adapter = ADAPTERS[name]!;
  const baseUrl = `http://127.0.0.1:${port}/${name}`;
  const hosts = Object.fromEntries(Object.keys(adapter.hosts ?? {}).map((host) => [host, baseUrl]));
  const settings = channelSettings({ adapter: name, baseUrl, hosts, apiKey: new Secret('upstream-key') });
  return channelFactory(adapter)(settings, systemClock);
}

async function measureCalls(name: string, channel: Channel): Promise<CallCosts> {
  const { signal } = new AbortController();
  const [{ attempt } = { attempt: undefined }] = readCases<{ attempt: PlannedAttempt }>(name, 'submit-requests');
  const upstreamId = UPSTREAM_IDS[name] ?? UPSTREAM_ID;
  return {
    create: await measureCpuUs(async () => {
      const submission = await channel.submit(attempt!, signal);
      if (submission.outcome !== 'accepted') throw new Error(`${name}: ${submission.error}`);
    }),
    poll: await measureCpuUs(async () => {
      const polled = await channel.poll(upstreamId, signal);
      if (!polled.found) throw new Error(`${name}: ${polled.error}`);
    }),
  };
}

/** Measures the processor time of a call in this thread. */
async function measureCpuUs(call: () => Promise<void>): Promise<number> {
  let left = CALLS;
  const before = process.threadCpuUsage();
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      for (; left > 0; left -= 1) await call();
    }),
  );
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / CALLS;
}
