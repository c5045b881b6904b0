import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, ProgramOptions } from '../harness/program.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { withJobs } from './async-calls.ts';

export type Line = Readonly<Record<string, unknown>>;

/** Four processes with an upstream of videos and one of calls, whose lines a test reads. */
export interface LoggedProgram {
  readonly program: Program;
  readonly demo: HttpCaller;
  /** The `host:port` of each upstream. */
  readonly upstreams: readonly string[];
  /** Lets the videos at the gate end. */
  openGate(): void;
  stopUpstreams(): Promise<void>;
  /** The whole lines so far that have these fields. */
  lines(wanted?: Line): readonly Line[];
  end(): Promise<void>;
}

export async function startLoggedProgram(bus: string, options: ProgramOptions = {}): Promise<LoggedProgram> {
  const [videos, calls] = await Promise.all([startScriptedUpstream(), startRelayUpstream()]);
  const program = await newProgram('four processes', { upstream: videos.host, bus }, withJobs(calls.host), options);
  await program.start();
  let stopped: Promise<unknown> | undefined;
  const stopUpstreams = async (): Promise<void> => {
    await (stopped ??= Promise.all([videos.stop(), calls.stop()]));
  };
  return {
    stopUpstreams,
    program,
    demo: httpCaller(program.base, KEYS.demo),
    upstreams: [videos.host, calls.host],
    openGate: () => {
      videos.openGate();
    },
    lines: (wanted = {}) =>
      program
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Line)
        .filter((line) => Object.entries(wanted).every(([name, value]) => line[name] === value)),
    end: async () => {
      await program.end();
      await stopUpstreams();
    },
  };
}
