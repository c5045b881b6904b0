import { startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import { installLitellm } from './peer-litellm.ts';
import { installOneApi } from './peer-one-api.ts';
import { installPortkey } from './peer-portkey.ts';
import type { NotInstalled, Peer, PeerProgram } from './peer.ts';
import { startRelayBaseline } from './relay-baseline.ts';
import { chatRequest, MODEL, UPSTREAM_MODEL } from './chat-request.ts';
import type { RelayTarget } from './relay-rounds.ts';
import { relayLoad, relayRounds } from './relay-rounds.ts';
import { linesOrFailure } from './table.ts';
import type { Line } from './table.ts';

const KINDS = ['JSON', 'SSE'] as const;
type Kind = (typeof KINDS)[number];
const IN_FLIGHT = [1, 32] as const;
const WARM_UP = { inFlight: 32 };
const WARM_UP_MS = 4000;
const PEERS = { Portkey: installPortkey, 'one-api': installOneApi, LiteLLM: installLitellm } as const;
/** Portkey counts neither tokens nor money. */
const RATE_GOALS: Readonly<Record<string, string>> = { 'Portkey, JSON, 32': 'ratio 3.5' };

/** Chat through the gateway and, in the same run, through other gateways with their default settings. */
export async function peersBench(): Promise<readonly Line[]> {
  const upstream = await startRelayBaseline();
  const bench = await startBenchProgram('one program', { relayTo: upstream.port });
  try {
    const lines: Line[] = [];
    for (const [name, install] of Object.entries(PEERS))
      lines.push(
        ...(await linesOrFailure(`relayed calls beside ${name}`, async () =>
          ofPeer(name, await install(), { upstreamPort: upstream.port, bench }),
        )),
      );
    return lines;
  } finally {
    await bench.end();
    upstream.stop();
  }
}

interface Running {
  readonly upstreamPort: number;
  readonly bench: BenchProgram;
}

interface Case extends Running {
  readonly name: string;
  readonly kind: Kind;
}

async function ofPeer(name: string, installed: PeerProgram | NotInstalled, running: Running): Promise<readonly Line[]> {
  if ('reason' in installed) return [{ what: `relayed calls beside ${name}`, skipped: installed.reason }];
  const lines: Line[] = [];
  for (const kind of KINDS) lines.push(...(await beside(installed, { name, kind, ...running })));
  return lines;
}

async function beside(installed: PeerProgram, { name, kind, upstreamPort, bench }: Case): Promise<readonly Line[]> {
  const peer = await installed.start(kind, upstreamPort);
  const { program, port } = bench;
  const targets = {
    direct: { port: upstreamPort, request: chatRequest(kind, UPSTREAM_MODEL), pids: () => [] },
    gateway: { port, request: chatRequest(kind, MODEL), pids: () => program.pids() },
    peer: targetOf(peer, kind),
  };
  try {
    for (const side of ['gateway', 'peer'] as const) await relayLoad(targets[side], WARM_UP, WARM_UP_MS);
    const lines: Line[] = [];
    for (const inFlight of IN_FLIGHT) lines.push(...(await linesOf(inFlight, { name, kind }, targets)));
    return lines;
  } finally {
    peer.stop();
  }
}

const targetOf = ({ port, headers, token, pid }: Peer, kind: Kind): RelayTarget => ({
  port,
  request: chatRequest(kind, UPSTREAM_MODEL, { headers, token }),
  pids: () => [pid],
});

async function linesOf(
  inFlight: number,
  { name, kind }: Pick<Case, 'name' | 'kind'>,
  targets: Readonly<Record<'direct' | 'gateway' | 'peer', RelayTarget>>,
): Promise<readonly Line[]> {
  const rounds = await relayRounds<'gateway' | 'peer'>({ inFlight }, targets);
  const what = `${kind}, ${inFlight} in flight (baseline: ${name})`;
  const goal = RATE_GOALS[`${name}, ${kind}, ${inFlight}`];
  const sides = (figure: 'perSecond' | 'cpuUs'): { readonly figure: number; readonly baseline: number } => ({
    figure: rounds.of('gateway', figure),
    baseline: rounds.of('peer', figure),
  });
  return [
    { what: `${what}: calls`, ...sides('perSecond'), unit: '/s', ...(goal !== undefined && { goal }) },
    { what: `${what}: processor time of a call`, ...sides('cpuUs'), unit: 'us' },
    ...(kind === 'SSE' ? (['p50', 'firstP50'] as const) : (['p50'] as const)).map((figure) => ({
      what: `${what}: ${figure === 'p50' ? 'p50' : 'first byte p50'} added`,
      figure: rounds.added('gateway', figure),
      baseline: rounds.added('peer', figure),
      unit: 'ms',
      ...(figure === 'p50' && name === 'Portkey' && kind === 'JSON' && inFlight === 1 && { goal: 'ratio under 1' }),
    })),
  ];
}
