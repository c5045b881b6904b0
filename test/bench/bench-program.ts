import { readFileSync } from 'node:fs';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { withRelay } from '../harness/relay-config.ts';
import { CHANNEL, KEYS } from '../harness/test-config.ts';
import type { ConfigOptions, TestConfig } from '../harness/test-config.ts';
import { startInstantUpstream } from './instant-upstream.ts';
import type { InstantUpstream } from './instant-upstream.ts';
import { MODEL } from './chat-request.ts';
import { requestOf } from './wire.ts';

const PLENTY = 2 ** 31 - 1;
const CALLS = { calls_per_minute: PLENTY };
const POLLS_PER_MINUTE = 6000;

export interface BenchProgram {
  readonly program: Program;
  readonly upstream: InstantUpstream;
  readonly port: number;
  /** The processor time of its processes so far. Other work on the machine does not change it. */
  cpuMs(): number;
  end(): Promise<void>;
}

interface BenchOptions {
  readonly bus?: string;
  readonly databases?: ConfigOptions['databases'];
  /** Further settings of the tasks service. */
  readonly tasks?: object;
  /** The poll plan. The default is that of a new installation. */
  readonly pollsPerMinute?: number;
  /** Whether the upstream sends callbacks. */
  readonly callbacks?: boolean;
  /** The port of an upstream of the synchronous routes, for which the program gets a channel. */
  readonly relayTo?: number;
  /** Variables of the program's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The last change of the configuration. */
  readonly change?: (config: TestConfig) => TestConfig;
}

/** The real program without limits on creates and calls, and an upstream that answers at once. */
export async function startBenchProgram(shape: Shape, options: BenchOptions = {}): Promise<BenchProgram> {
  const { bus, databases, relayTo, environment = {}, change = (config) => config } = options;
  const upstream = await startInstantUpstream();
  const relayed =
    relayTo === undefined
      ? (config: TestConfig) => config
      : (config: TestConfig) =>
          withPrice(withRelay({ upstream: `127.0.0.1:${relayTo}`, nobody: '127.0.0.1:1' })(config));
  const program = await newProgram(
    shape,
    { upstream: upstream.host, databases, ...(bus === undefined ? {} : { bus }) },
    (config) => unlimited(change(relayed(config)), options),
    { environment },
  );
  await program.start();
  return {
    program,
    upstream,
    port: Number(new URL(program.base).port),
    cpuMs: () => program.pids().reduce((sum, pid) => sum + cpuMsOf(pid), 0),
    end: async () => {
      await program.end();
      await upstream.stop();
    },
  };
}

/** Only small holds are placed beside the call, and the models of the tests cost a thousand times too much for that. */
function withPrice(config: TestConfig): TestConfig {
  const prices = { ...config.prices, [MODEL]: { per_million_tokens: { input: '3', output: '15' } } };
  return { ...config, prices };
}

function unlimited(
  config: TestConfig,
  { tasks = {}, pollsPerMinute = POLLS_PER_MINUTE, callbacks = false }: BenchOptions,
): TestConfig {
  const limits = { ...config.gateway.limits, creates_per_minute: PLENTY, reads_per_minute: PLENTY };
  const calls = { requests_per_minute: PLENTY, in_flight: PLENTY };
  return {
    ...config,
    gateway: { ...config.gateway, limits: { ...limits, ...('calls_per_minute' in limits && CALLS) } },
    tasks: {
      ...config.tasks,
      poll: { first: '3s', factor: 1.5, max: '15s' },
      in_flight: { per_token: PLENTY, total: PLENTY },
      ...tasks,
    },
    channels: config.channels.map((channel) =>
      channel.id === CHANNEL
        ? { ...channel, callbacks, limits: { ...calls, polls_per_minute: pollsPerMinute } }
        : { ...channel, limits: calls },
    ),
    accounts: config.accounts.map((account) => ({ ...account, credit: '1000000000.00' })),
  };
}

/** The processor time by Linux's count, in hundredths of a second; NaN on other systems. */
export function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

let created = 0;

/** An ordinary create with a prompt that no earlier create has. */
export function createRequest(token: string = KEYS.demo): Buffer {
  created += 1;
  const text = `a red boat at dawn, number ${created}; ${'the camera glides over the water. '.repeat(10)}`;
  return requestOf({
    method: 'POST',
    target: '/v1/videos',
    token,
    body: { model: 'Alpha-H3', prompt: text, seconds: '5', size: '1280x720' },
  });
}
