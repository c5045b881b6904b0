import { httpCaller } from './client.ts';
import type { HttpCaller } from './client.ts';
import { newProgram } from './program.ts';
import type { Program } from './program.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';
import type { ScriptedUpstream } from './scripted-upstream.ts';
import { KEYS } from './test-config.ts';
import type { ConfigOptions, TestConfig } from './test-config.ts';

/** All services in one process, with a scripted upstream and a client of the account demo. */
export interface ScriptedProgram {
  readonly upstream: ScriptedUpstream;
  readonly program: Program;
  readonly demo: HttpCaller;
  /** Stops the program, removes its data and stops the upstream. */
  end(): Promise<void>;
}

/** Starts the program. `change` changes its configuration. */
export async function startScriptedProgram(
  options: Omit<ConfigOptions, 'dir' | 'upstream'> = {},
  change?: (config: TestConfig) => TestConfig,
): Promise<ScriptedProgram> {
  const upstream = await startScriptedUpstream();
  const program = await newProgram('one program', { ...options, upstream: upstream.host }, change);
  const end = async (): Promise<void> => {
    await program.end();
    await upstream.stop();
  };
  try {
    await program.start();
  } catch (error) {
    await end();
    throw error;
  }
  return { upstream, program, demo: httpCaller(program.base, KEYS.demo), end };
}
