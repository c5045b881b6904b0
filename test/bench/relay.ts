import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { withRelay } from '../harness/relay-config.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startBareRelay } from './bare-relay.ts';
import type { BareRelay } from './bare-relay.ts';
import { cpuMsOf } from './bench-program.ts';
import { median, quantile } from './load.ts';
import { installPortkey, startPortkey } from './peer-portkey.ts';
import type { Portkey } from './peer-portkey.ts';
import { UNHURRIED, startRelayBaseline } from './relay-baseline.ts';
import { openRelayLine } from './relay-line.ts';
import type { Timed } from './relay-line.ts';
import type { Line } from './table.ts';
import { requestOf } from './wire.ts';

const PLENTY = 2 ** 31 - 1;
/**
 * JSON of an upstream that answers at once, so that added time is time in the gateway's queue; and JSON of an upstream
 * that takes 10 ms.
 */
const KINDS = ['JSON', 'JSON after 10 ms', 'SSE'] as const;
const IN_FLIGHT = [1, 32, 128] as const;
const ROUNDS = 3;
const ROUND_MS = 1500;
const WARM_UP_MS = 3000;
const WARM_UP_IN_FLIGHT = 32;
const PATH = '/v1/chat/completions';

type Kind = (typeof KINDS)[number];

/** A program to call: the upstream itself, the product, another relay. */
interface Target {
  readonly port: number;
  readonly request: Buffer;
  /** The processes whose processor time counts. */
  readonly pids: () => readonly number[];
}

interface Measured {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The time to the first byte. */
  readonly firstP50: number;
  /** The processor time of a call. Other work on the machine hardly changes it. */
  readonly cpuUs: number;
}

/**
 * Chat through the gateway, with its authentication, hold and settlement. In the same run: a direct call, another
 * relay, and the smallest relay.
 */
export async function relayBench(): Promise<readonly Line[]> {
  const upstream = await startRelayBaseline();
  const bare = await startBareRelay(upstream.port);
  const program = await newProgram('one program', { upstream: '127.0.0.1:1' }, configured(upstream.port));
  try {
    await program.start();
    const portkey = await installPortkey();
    const lines: Line[] = [];
    for (const kind of KINDS)
      lines.push(...(await ofKind(kind, { upstreamPort: upstream.port, program, bare, portkey })));
    return lines;
  } finally {
    await program.end();
    bare.stop();
    upstream.stop();
  }
}

/** One channel without limits. */
function configured(upstreamPort: number): (config: TestConfig) => TestConfig {
  const relayed = withRelay({ upstream: `127.0.0.1:${String(upstreamPort)}`, nobody: '127.0.0.1:1', gateway: {} });
  return (config) => {
    const whole = relayed(config);
    return {
      ...whole,
      gateway: {
        ...whole.gateway,
        limits: { ...whole.gateway.limits, calls_per_minute: PLENTY },
      } as TestConfig['gateway'],
      channels: whole.channels.map((channel) => ({
        ...channel,
        limits: { requests_per_minute: PLENTY, in_flight: PLENTY },
      })),
      accounts: whole.accounts.map((account) => ({ ...account, credit: '1000000000.00' })),
    };
  };
}

interface Sides {
  readonly upstreamPort: number;
  readonly program: Program;
  readonly bare: BareRelay;
  readonly portkey: string | undefined;
}

async function ofKind(
  kind: Kind,
  { upstreamPort, program, bare, portkey: installed }: Sides,
): Promise<readonly Line[]> {
  const portkey = installed === undefined ? undefined : await startPortkey(installed, kind === 'SSE' ? 'SSE' : 'JSON');
  try {
    const direct = { port: upstreamPort, request: requestTo(kind, 'vendor-secret-model-2026'), pids: () => [] };
    const product = {
      port: Number(new URL(program.base).port),
      request: requestTo(kind, 'solo'),
      pids: () => program.pids(),
    };
    const least = { port: bare.port, request: requestTo(kind, 'vendor-secret-model-2026'), pids: () => [bare.pid] };
    const other = portkey === undefined ? undefined : peerTarget(kind, portkey, upstreamPort);
    for (const target of [product, least, ...(other === undefined ? [] : [other])])
      await load(target, WARM_UP_IN_FLIGHT, WARM_UP_MS);
    const lines: Line[] = [];
    for (const inFlight of IN_FLIGHT)
      lines.push(
        ...(await measured(`${kind}, ${String(inFlight)} in flight`, inFlight, { direct, product, least, other })),
      );
    return other === undefined
      ? [...lines, { what: `${kind} through the other relay`, skipped: 'it could not be installed' }]
      : lines;
  } finally {
    portkey?.stop();
  }
}

interface Targets {
  readonly direct: Target;
  readonly product: Target;
  readonly least: Target;
  readonly other: Target | undefined;
}

/** The medians of rounds that measure all alternately, so that they have the same load of the machine. */
async function measured(
  what: string,
  inFlight: number,
  { direct, product, least, other }: Targets,
): Promise<readonly Line[]> {
  const rounds: { readonly [side in keyof Targets]: Measured | undefined }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      direct: await load(direct, inFlight, ROUND_MS),
      product: await load(product, inFlight, ROUND_MS),
      least: await load(least, inFlight, ROUND_MS),
      other: other === undefined ? undefined : await load(other, inFlight, ROUND_MS),
    });
  }
  const of = (side: keyof Targets, figure: keyof Measured): number =>
    median(rounds.map((round) => round[side]?.[figure] ?? Number.NaN));
  const added = (side: 'product' | 'other', figure: 'p50' | 'p99' | 'firstP50'): number =>
    median(rounds.map((round) => (round[side]?.[figure] ?? Number.NaN) - (round.direct?.[figure] ?? Number.NaN)));
  const beside = (figure: number): { readonly baseline?: number } => (other === undefined ? {} : { baseline: figure });
  return [
    { what: `${what}: direct`, figure: of('direct', 'perSecond'), unit: '/s' },
    {
      what: `${what}: gateway (baseline: Portkey)`,
      figure: of('product', 'perSecond'),
      unit: '/s',
      ...beside(of('other', 'perSecond')),
      goal: 'ratio 6',
    },
    {
      what: `${what}: gateway (baseline: a bare relay)`,
      figure: of('product', 'perSecond'),
      unit: '/s',
      baseline: of('least', 'perSecond'),
    },
    {
      what: `${what}: processor time of a call`,
      figure: of('product', 'cpuUs'),
      unit: 'us',
      ...beside(of('other', 'cpuUs')),
    },
    {
      what: `${what}: p50 added`,
      figure: added('product', 'p50'),
      unit: 'ms',
      ...beside(added('other', 'p50')),
      ...(inFlight === 32 ? { goal: 'under 1 ms' } : {}),
    },
    { what: `${what}: p99 added`, figure: added('product', 'p99'), unit: 'ms', ...beside(added('other', 'p99')) },
    {
      what: `${what}: first byte p50 added`,
      figure: added('product', 'firstP50'),
      unit: 'ms',
      ...beside(added('other', 'firstP50')),
    },
  ];
}

/** Keeps this many calls under way. Any answer but 200 ends the measurement. */
async function load({ port, request, pids }: Target, inFlight: number, ms: number): Promise<Measured> {
  const lines = await Promise.all(Array.from({ length: inFlight }, () => openRelayLine(port)));
  const calls: Timed[] = [];
  const cpuMs = (): number => pids().reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const cpuBefore = cpuMs();
  const start = performance.now();
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() - start < ms) {
        const call = await line.ask(request);
        if (call.status !== 200) throw new Error(`an answer of ${String(call.status)} at port ${String(port)}`);
        calls.push(call);
      }
    }),
  );
  const took = performance.now() - start;
  for (const line of lines) line.close();
  const whole = calls.map(({ wholeMs }) => wholeMs);
  return {
    perSecond: (calls.length * 1000) / took,
    p50: median(whole),
    p99: quantile(whole, 0.99),
    firstP50: median(calls.map(({ firstMs }) => firstMs)),
    cpuUs: ((cpuMs() - cpuBefore) * 1000) / calls.length,
  };
}

function requestTo(kind: Kind, model: string, headers: readonly string[] = []): Buffer {
  const messages = [
    {
      role: 'user',
      content:
        (kind === 'JSON after 10 ms' ? UNHURRIED : 'a red boat at dawn') +
        `; ${'the camera glides over the water. '.repeat(20)}`,
    },
  ];
  return requestOf({
    method: 'POST',
    target: PATH,
    token: KEYS.demo,
    headers,
    body: { model, messages, max_tokens: 100, ...(kind === 'SSE' ? { stream: true } : {}) },
  });
}

function peerTarget(kind: Kind, portkey: Portkey, upstreamPort: number): Target {
  return {
    port: portkey.port,
    request: requestTo(kind, 'vendor-secret-model-2026', portkey.headersTo(upstreamPort)),
    pids: () => [portkey.pid],
  };
}
