import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

const START_TIMEOUT_MS = 60_000;

/** Another gateway that runs beside the product. */
export interface Peer {
  readonly port: number;
  readonly pid: number;
  /** What a request needs besides the client's own headers, to reach the upstream. */
  readonly headers: readonly string[];
  /** The client's token, if the gateway chose it. */
  readonly token?: string;
  stop(): void;
}

/** An installed gateway, which is started for each kind of answer. It relays to this port of the loopback address. */
export interface PeerProgram {
  start(kind: 'JSON' | 'SSE', upstreamPort: number): Promise<Peer>;
}

/** Why a gateway could not be installed on this machine. */
export interface NotInstalled {
  readonly reason: string;
}

export const notInstalled = (error: unknown): NotInstalled => ({
  reason: `not installed: ${(error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? ''}`,
});

/** Waits until the process answers HTTP at this port. */
export async function untilAnswering(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('the other gateway did not start');
    const answers = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    );
    if (answers) return;
    await wait(100);
  }
}
