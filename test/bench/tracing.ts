import { closedLoop } from './load.ts';
import { joinPairs, linesOfPairs, roundPairs } from './rounds.ts';
import type { RoundPairs } from './rounds.ts';
import { startSpanSink } from './span-sink.ts';
import type { Line } from './table.ts';
import { WORKLOADS } from './workloads.ts';
import type { Started } from './workloads.ts';

/** A start of a process has a speed of its own (the layout of its memory, its compiled code), so each side has some. */
const STARTS = 3;
const IN_FLIGHT = 32;
const WARM_UP_MS = 4000;
const LOOP = { inFlight: IN_FLIGHT, ms: 800 };
/** No variable of the machine switches tracing on. */
const OFF = { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '' };

/** The default shares of what is recorded. */
const KINDS: readonly { readonly name: keyof typeof WORKLOADS; readonly sampled: string; readonly goal?: string }[] = [
  { name: 'create', sampled: 'all sampled', goal: '1.10' },
  { name: 'status read', sampled: '0.1 % sampled', goal: '1.02' },
  { name: 'relayed call', sampled: '5 % sampled' },
];

/** What each call costs with traces to a receiver on loopback. The baseline records none. */
export async function tracingBench(): Promise<readonly Line[]> {
  const sink = await startSpanSink();
  try {
    const lines: Line[] = [];
    for (const { name, sampled, goal } of KINDS) {
      const starts: RoundPairs[] = [];
      const before = await sink.bytes();
      for (let start = 0; start < STARTS; start += 1)
        starts.push(await measured(WORKLOADS[name], sink.endpoint, start % 2 === 0));
      if ((await sink.bytes()) === before) throw new Error(`no span of a ${name} has come`);
      lines.push(...linesOfPairs(`${name}, traces on, ${sampled} (baseline: off)`, joinPairs(starts), goal));
    }
    return lines;
  } finally {
    sink.stop();
  }
}

/** Both sides run at the same time, and one at a time has calls. */
async function measured(
  start: (environment: Readonly<Record<string, string>>) => Promise<Started>,
  endpoint: string,
  isOffFirst: boolean,
): Promise<RoundPairs> {
  const on = { ...OFF, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
  const subjects: Started[] = [];
  try {
    for (const environment of isOffFirst ? [OFF, on] : [on, OFF]) subjects.push(await start(environment));
    for (const { target } of subjects) await closedLoop(target, IN_FLIGHT, WARM_UP_MS);
    const [baseline, product] = (isOffFirst ? subjects : subjects.toReversed()) as [Started, Started];
    return await roundPairs({ baseline, product }, LOOP);
  } finally {
    for (const subject of subjects) await subject.end();
  }
}
