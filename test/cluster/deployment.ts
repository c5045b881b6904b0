import { setTimeout as wait } from 'node:timers/promises';
import type { Pod, PodPlace, PodSpec } from './pod.ts';
import { startPod } from './pod.ts';
import type { Namespace } from './network.ts';

const STEP_MS = 100;
const SETTLE_TIMEOUT_MS = 180_000;

export interface DeploymentSpec {
  readonly name: string;
  readonly replicas: number;
  /** More pods than the replicas while it rolls, and fewer. */
  readonly maxSurge: number;
  readonly maxUnavailable: number;
  /** A pod is available when it has been ready for so long. */
  readonly minReadyMs: number;
  readonly pod: PodSpec | ((namespace: Namespace) => PodSpec);
}

/** The pods of one template, which is the same after a rolling restart. */
export interface Deployment {
  readonly name: string;
  /** The pods that are not removed yet, with the terminating ones. */
  readonly pods: readonly Pod[];
  /** How each pod that was stopped has ended. */
  readonly endings: readonly string[];
  /** Resolves when all replicas are available. */
  available(): Promise<void>;
  /** Replaces every pod, within the bounds of the strategy. Resolves when the old ones have ended. */
  rollingRestart(): Promise<void>;
  /** Stops one pod, as an eviction does, and starts another at once. Resolves when the old one has ended. */
  replace(pod: Pod): Promise<void>;
  discard(): Promise<void>;
}

export async function startDeployment(spec: DeploymentSpec, place: PodPlace): Promise<Deployment> {
  const { name, replicas, maxSurge, maxUnavailable, minReadyMs } = spec;
  const pods = new Set<Pod>();
  const endings: string[] = [];
  let started = 0;
  const add = async (): Promise<Pod> => {
    started += 1;
    const pod = await startPod(`${name}-${started}`, spec.pod, place);
    pods.add(pod);
    place.changed();
    return pod;
  };
  const remove = async (pod: Pod): Promise<void> => {
    const how = await pod.terminate();
    endings.push(`${pod.name}: ${how}`);
    pods.delete(pod);
  };
  const current = (): readonly Pod[] => [...pods].filter(({ isTerminating }) => !isTerminating);
  const isAvailable = ({ readySince }: Pod): boolean =>
    readySince !== undefined && performance.now() - readySince >= minReadyMs;
  const available = (): readonly Pod[] => current().filter(isAvailable);

  await Promise.all(Array.from({ length: replicas }, add));
  return {
    name,
    get pods() {
      return [...pods];
    },
    endings,
    available: async () => {
      const deadline = performance.now() + SETTLE_TIMEOUT_MS;
      while (available().length < replicas) {
        if (performance.now() > deadline) throw new Error(`${name} does not become available: ${outputs(current())}`);
        await wait(STEP_MS);
      }
    },
    rollingRestart: async () => {
      const old = new Set(current());
      const removals: Promise<void>[] = [];
      const deadline = performance.now() + SETTLE_TIMEOUT_MS;
      for (;;) {
        const fresh = current().filter((pod) => !old.has(pod));
        if (old.size === 0 && fresh.length === replicas && available().length >= replicas) break;
        if (performance.now() > deadline) throw new Error(`${name} does not roll: ${outputs(fresh)}`);
        if (fresh.length < replicas && current().length < replicas + maxSurge) await add();
        const spare = [...old].find((pod) => !isAvailable(pod) || available().length > replicas - maxUnavailable);
        if (spare !== undefined) {
          old.delete(spare);
          removals.push(remove(spare));
        }
        await wait(STEP_MS);
      }
      await Promise.all(removals);
    },
    replace: async (pod) => {
      await Promise.all([remove(pod), add()]);
    },
    discard: async () => {
      await Promise.all([...pods].map((pod) => pod.discard()));
      pods.clear();
    },
  };
}

function outputs(pods: readonly Pod[]): string {
  return pods.map((pod) => `${pod.name}: ${pod.output().slice(-2000)}`).join('\n');
}
