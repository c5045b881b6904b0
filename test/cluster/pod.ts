import { once } from 'node:events';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startContainer } from './container.ts';
import type { Container, ContainerSpec } from './container.ts';
import type { Namespace, Network } from './network.ts';

/** A kubelet notices the end of a container about this late. */
const NOTICE_MS = 1000;
/** The pauses before a container that ended is started again: the first start is at once. */
const RESTART_PAUSES_MS = [0, 10_000, 20_000];

/** An HTTP probe, with the names of a manifest. */
export interface Probe {
  readonly port: number;
  readonly path: string;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly failureThreshold: number;
}

/** Without probes a pod is ready while its container runs. */
export interface Probes {
  readonly startup?: Probe;
  readonly liveness?: Probe;
  readonly readiness?: Probe;
}

export interface PodSpec {
  readonly container: ContainerSpec;
  readonly probes: Probes;
  readonly preStopMs: number;
  /** From the start of the stop, with the pause before it, until SIGKILL. */
  readonly graceMs: number;
}

/** One pod: an address, a container that is started again when it ends, and probes. */
export interface Pod {
  readonly name: string;
  readonly namespace: Namespace;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** The number of starts of its container. */
  readonly starts: number;
  /** Since when it has been ready, of `performance.now()`. */
  readonly readySince: number | undefined;
  /** Signals its container. */
  kill(signal: NodeJS.Signals): void;
  /** Stops it as a cluster does and removes it. Resolves with how the container ended. */
  terminate(): Promise<string>;
  /** Ends it at once. */
  discard(): Promise<void>;
  /** The newest output, with that of the container before this one. */
  output(): string;
}

export interface PodPlace {
  readonly network: Network;
  readonly logFolder: string;
  /** Called for each new namespace, before its container starts. */
  readonly prepared?: ((namespace: Namespace) => void) | undefined;
  /** Called after each change of `isReady` and `isTerminating`. */
  readonly changed: () => void;
}

export async function startPod(
  name: string,
  spec: PodSpec | ((namespace: Namespace) => PodSpec),
  { network, logFolder, prepared, changed }: PodPlace,
): Promise<Pod> {
  const namespace = network.addNamespace(name);
  prepared?.(namespace);
  const { container: containerSpec, probes, preStopMs, graceMs } = typeof spec === 'function' ? spec(namespace) : spec;
  const logFile = path.join(logFolder, `${name}.log`);
  let readySince: number | undefined;
  let isTerminating = false;
  let starts = 0;
  let container: Container;
  let probing = new AbortController();
  let earlier = '';

  const setReady = (isReady: boolean): void => {
    if (isReady === (readySince !== undefined)) return;
    readySince = isReady ? performance.now() : undefined;
    changed();
  };
  const start = async (): Promise<void> => {
    starts += 1;
    const started = await startContainer(containerSpec, namespace, logFile);
    container = started;
    probing = new AbortController();
    const restart = (): Promise<string> => {
      probing.abort();
      return stopContainer(0);
    };
    void probe(namespace.address, probes, { setReady, restart }, probing.signal);
    void started.ended.then(async (how) => {
      earlier = `${started.output()}\nended: ${how}\n`;
      probing.abort();
      if (isTerminating) return;
      await wait(NOTICE_MS, undefined, { ref: false });
      setReady(false);
      await wait(RESTART_PAUSES_MS[Math.min(starts, RESTART_PAUSES_MS.length) - 1], undefined, { ref: false });
      if (!isTerminating) await start();
    });
  };
  const stopContainer = async (pauseMs: number): Promise<string> => {
    const { ended } = container;
    const deadline = AbortSignal.timeout(graceMs);
    await wait(pauseMs);
    container.kill('SIGTERM');
    const isOver = await Promise.race([ended.then(() => true), once(deadline, 'abort').then(() => false)]);
    if (!isOver) container.kill('SIGKILL');
    return (isOver ? '' : 'killed after its grace period: ') + (await ended);
  };
  await start();
  const pod: Pod = {
    name,
    namespace,
    get isReady() {
      return readySince !== undefined;
    },
    get isTerminating() {
      return isTerminating;
    },
    get starts() {
      return starts;
    },
    get readySince() {
      return readySince;
    },
    kill: (signal) => {
      container.kill(signal);
    },
    terminate: async () => {
      if (isTerminating) return 'it was terminating';
      isTerminating = true;
      changed();
      const how = await stopContainer(preStopMs);
      probing.abort();
      namespace.remove();
      return how;
    },
    discard: async () => {
      isTerminating = true;
      probing.abort();
      container.kill('SIGKILL');
      await container.ended;
      namespace.remove();
    },
    output: () => earlier + container.output(),
  };
  return pod;
}

interface Verdicts {
  readonly setReady: (isReady: boolean) => void;
  readonly restart: () => Promise<unknown>;
}

/** First the start, then readiness and liveness side by side until the signal. */
async function probe(host: string, probes: Probes, verdicts: Verdicts, signal: AbortSignal): Promise<void> {
  const { startup, readiness, liveness } = probes;
  if (startup !== undefined && !(await untilStarted(host, startup, signal))) {
    if (!signal.aborted) await verdicts.restart();
    return;
  }
  const followed: Promise<void>[] = [];
  if (readiness === undefined) verdicts.setReady(true);
  else followed.push(follow(host, readiness, signal, verdicts.setReady));
  if (liveness !== undefined)
    followed.push(
      follow(host, liveness, signal, (isAlive) => {
        if (!isAlive) void verdicts.restart();
      }),
    );
  await Promise.all(followed);
}

async function untilStarted(host: string, probe: Probe, signal: AbortSignal): Promise<boolean> {
  for (let failures = 0; failures < probe.failureThreshold && !signal.aborted; failures += 1) {
    if (await passes(host, probe)) return !signal.aborted;
    await pause(probe.periodMs, signal);
  }
  return false;
}

/** Reports each passed probe, and each failure that reaches the threshold. */
async function follow(
  host: string,
  probe: Probe,
  signal: AbortSignal,
  report: (passed: boolean) => void,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    failures = (await passes(host, probe)) ? 0 : failures + 1;
    if (signal.aborted) return;
    if (failures === 0) report(true);
    else if (failures >= probe.failureThreshold) report(false);
    await pause(probe.periodMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** One probe on a connection of its own. Any status from 200 to 399 passes. */
function passes(host: string, { port, path: target, timeoutMs }: Probe): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path: target, agent: false, signal: AbortSignal.timeout(timeoutMs) });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 400);
    });
    asked.once('error', () => {
      resolve(false);
    });
    asked.end();
  });
}
