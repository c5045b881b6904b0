import { startBareRelay } from './bare-relay.ts';
import type { BareRelay } from './bare-relay.ts';
import { startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { startRelayBaseline } from './relay-baseline.ts';
import { chatRequest, KINDS, MODEL, UPSTREAM_MODEL } from './chat-request.ts';
import type { Kind } from './chat-request.ts';
import { relayLoad, relayRounds } from './relay-rounds.ts';
import type { Load, RelayTarget } from './relay-rounds.ts';
import type { Line } from './table.ts';

const WARM_UP = { inFlight: 32 };
const WARM_UP_MS = 3000;
const IN_FLIGHT = [1, 32, 128] as const;
const OPEN_PER_SECOND = 500;

interface Case {
  readonly name: string;
  readonly load: Load;
  /** The figures' limits in milliseconds. */
  readonly added: Readonly<Partial<Record<'p50' | 'p99' | 'firstP50', number>>>;
}

const CLOSED: readonly Case[] = IN_FLIGHT.map((inFlight) => ({
  name: `${inFlight} in flight`,
  load: { inFlight },
  added: {},
}));
const CASES: Readonly<Record<Kind, readonly Case[]>> = {
  JSON: [
    { ...CLOSED[0]!, added: { p50: 0.5 } },
    ...CLOSED.slice(1),
    {
      name: `${OPEN_PER_SECOND} begun each second`,
      load: { perSecond: OPEN_PER_SECOND },
      added: { p50: 0.6, p99: 5 },
    },
  ],
  'JSON after 10 ms': CLOSED,
  SSE: [{ ...CLOSED[0]!, added: { firstP50: 0.8 } }, ...CLOSED.slice(1)],
};

/**
 * Chat through the gateway, with its authentication, hold and settlement. In the same run: a direct call, and the
 * smallest relay. The bench `peers` adds other gateways.
 */
export async function relayBench(): Promise<readonly Line[]> {
  const upstream = await startRelayBaseline();
  const bare = await startBareRelay(upstream.port);
  try {
    const bench = await startBenchProgram('one program', { relayTo: upstream.port });
    try {
      const lines: Line[] = [];
      for (const kind of KINDS) lines.push(...(await ofKind(kind, targetsOf(kind, upstream.port, bench, bare))));
      return lines;
    } finally {
      await bench.end();
    }
  } finally {
    bare.stop();
    upstream.stop();
  }
}

type Targets = Readonly<Record<'direct' | 'gateway' | 'bare', RelayTarget>>;

function targetsOf(kind: Kind, upstreamPort: number, { program, port }: BenchProgram, bare: BareRelay): Targets {
  return {
    direct: { port: upstreamPort, request: chatRequest(kind, UPSTREAM_MODEL), pids: () => [] },
    gateway: { port, request: chatRequest(kind, MODEL), pids: () => program.pids() },
    bare: { port: bare.port, request: chatRequest(kind, UPSTREAM_MODEL), pids: () => [bare.pid] },
  };
}

async function ofKind(kind: Kind, targets: Targets): Promise<readonly Line[]> {
  for (const target of [targets.gateway, targets.bare]) await relayLoad(target, WARM_UP, WARM_UP_MS);
  const lines: Line[] = [];
  for (const one of CASES[kind])
    lines.push(...(await linesOf(`${kind}, ${one.name}`, { ...one, isStream: kind === 'SSE' }, targets)));
  return lines;
}

/** The first byte of a whole answer comes with the last. */
const WHOLE = ['p50', 'p99'] as const;
const ALL = [...WHOLE, 'firstP50'] as const;
const ADDED = { p50: 'p50 added', p99: 'p99 added', firstP50: 'first byte p50 added' } as const;

async function linesOf(
  what: string,
  { load, added, isStream }: Case & { readonly isStream: boolean },
  targets: Targets,
): Promise<readonly Line[]> {
  const rounds = await relayRounds<'gateway' | 'bare'>(load, targets);
  const rates: readonly Line[] =
    'perSecond' in load
      ? []
      : [
          { what: `${what}: direct`, figure: rounds.of('direct', 'perSecond'), unit: '/s' },
          {
            what: `${what}: gateway (baseline: a bare relay)`,
            figure: rounds.of('gateway', 'perSecond'),
            unit: '/s',
            baseline: rounds.of('bare', 'perSecond'),
          },
        ];
  return [
    ...rates,
    {
      what: `${what}: processor time of a call`,
      figure: rounds.of('gateway', 'cpuUs'),
      unit: 'us',
      baseline: rounds.of('bare', 'cpuUs'),
    },
    ...(isStream ? ALL : WHOLE).map((figure) => ({
      what: `${what}: ${ADDED[figure]}`,
      figure: rounds.added('gateway', figure),
      unit: 'ms',
      baseline: rounds.added('bare', figure),
      ...(added[figure] !== undefined && { goal: `under ${added[figure]} ms` }),
    })),
  ];
}
