import { httpCaller } from '../harness/client.ts';
import { KEYS } from '../harness/test-config.ts';
import { createRequest, startBenchProgram } from './bench-program.ts';
import type { BenchProgram } from './bench-program.ts';
import type { Target } from './load.ts';
import { startRelayBaseline } from './relay-baseline.ts';
import { chatRequest, MODEL } from './chat-request.ts';
import { openRelayLine } from './relay-line.ts';
import type { Subject } from './rounds.ts';
import { requestOf } from './wire.ts';

const TASKS = 100;

export interface Started extends Subject {
  end(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** The three paths that users feel, each on a fresh program. */
export const WORKLOADS = {
  create: async (environment: Environment): Promise<Started> => {
    const bench = await startBenchProgram('one program', { environment });
    return { ...bench, target: { port: bench.port, request: createRequest } };
  },
  'status read': async (environment: Environment): Promise<Started> => {
    const bench = await startBenchProgram('one program', { environment });
    return { ...bench, target: { port: bench.port, request: await statusReads(bench) } };
  },
  'relayed call': async (environment: Environment): Promise<Started> => {
    const upstream = await startRelayBaseline();
    const bench = await startBenchProgram('one program', { relayTo: upstream.port, environment });
    return {
      cpuMs: () => bench.cpuMs(),
      target: chatTarget(bench),
      end: async () => {
        await bench.end();
        upstream.stop();
      },
    };
  },
} as const;

/** Chat on a channel of the option `relayTo`. */
export function chatTarget({ port }: BenchProgram): Target {
  const request = chatRequest('JSON', MODEL);
  return { port, request: () => request, open: openRelayLine };
}

/** Reads of the same tasks again and again, as clients poll. */
export async function statusReads({ program }: BenchProgram): Promise<() => Buffer> {
  const caller = httpCaller(program.base, KEYS.demo);
  const ids = await Promise.all(
    Array.from({ length: TASKS }, () =>
      caller.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '5', size: '1280x720' }),
    ),
  );
  const requests = ids.map((id) => requestOf({ method: 'GET', target: `/v1/videos/${id}`, token: KEYS.demo }));
  let at = 0;
  return () => requests[(at += 1) % requests.length]!;
}
