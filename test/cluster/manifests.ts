import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { inputOf, podLabelsOf, podOf } from '../manifests/pods.ts';
import type { Container, ContainerInput, Probe as ProbeManifest } from '../manifests/pods.ts';
import type { KubernetesObject } from '../manifests/render.ts';
import type { ServiceSpec } from './cluster.ts';
import type { DeploymentSpec } from './deployment.ts';
import { inImage } from './image-container.ts';
import type { Mount } from './image-container.ts';
import type { Namespace } from './network.ts';
import type { PodSpec, Probe, Probes } from './pod.ts';

/** Kubernetes' own defaults. */
const DEFAULTS = { grace: 30, period: 10, timeout: 1, failures: 3, share: '25%' } as const;

/** The rendered objects of one overlay, and where its containers find their files. */
export interface Manifests {
  readonly objects: readonly KubernetesObject[];
  /** The file system of the image. */
  readonly root: string;
  /** A folder for the files of volumes. */
  readonly folder: string;
}

/** A number, or a share such as `25%`. */
type Count = number | string;
type Labels = Readonly<Record<string, string>>;

interface DeploymentManifest {
  readonly minReadySeconds?: number;
  readonly strategy?: { readonly rollingUpdate?: { readonly maxSurge?: Count; readonly maxUnavailable?: Count } };
}

interface ServiceManifest {
  readonly clusterIP?: string;
  readonly selector?: Labels;
  readonly ports: readonly { readonly port: number; readonly targetPort?: number | string }[];
}

/** What a probe and a container may have besides what the assertions on manifests read. */
interface Timed extends ProbeManifest {
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}
interface Stopped extends Container {
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

const deploymentObjects = (objects: readonly KubernetesObject[]): readonly KubernetesObject[] =>
  objects.filter(({ kind }) => kind === 'Deployment');

/** The Deployments as the cluster runs them, with the number of replicas that the test wants. */
export function deploymentsOf(manifests: Manifests, replicas: number): readonly DeploymentSpec[] {
  return deploymentObjects(manifests.objects).map((object) => {
    const { strategy, minReadySeconds = 0 } = object.spec as DeploymentManifest;
    const { maxSurge = DEFAULTS.share, maxUnavailable = DEFAULTS.share } = strategy?.rollingUpdate ?? {};
    return {
      name: object.metadata.name,
      replicas,
      maxSurge: countOf(maxSurge, replicas, Math.ceil),
      maxUnavailable: countOf(maxUnavailable, replicas, Math.floor),
      minReadyMs: minReadySeconds * 1000,
      pod: (namespace) => podSpecOf(manifests, object, namespace),
    };
  });
}

/** The Services that select a Deployment. */
export function servicesOf({ objects }: Manifests): readonly ServiceSpec[] {
  return objects
    .filter(({ kind }) => kind === 'Service')
    .flatMap(({ metadata: { name }, spec }) => {
      const { selector, clusterIP, ports } = spec as unknown as ServiceManifest;
      const selected = deploymentObjects(objects).find((object) => isWithin(selector, podLabelsOf(object)));
      if (selected === undefined) return [];
      const { containers } = podOf(selected);
      return [
        {
          name,
          selects: selected.metadata.name,
          headless: clusterIP === 'None',
          ports: ports.map(({ port, targetPort = port }) => ({ port, targetPort: portOf(targetPort, containers) })),
        },
      ];
    });
}

const isWithin = (selector: Labels | undefined, labels: Labels): boolean =>
  selector !== undefined && Object.entries(selector).every(([name, value]) => labels[name] === value);

function countOf(count: Count, replicas: number, round: (share: number) => number): number {
  return typeof count === 'number' ? count : round((Number.parseInt(count, 10) * replicas) / 100);
}

function portOf(port: number | string, containers: readonly Container[]): number {
  if (typeof port === 'number') return port;
  const named = containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === port);
  if (named === undefined) throw new Error(`no container has a port ${port}`);
  return named.containerPort;
}

function podSpecOf(manifests: Manifests, object: KubernetesObject, namespace: Namespace): PodSpec {
  const pod = podOf(object);
  const [container, ...more] = pod.containers as readonly Stopped[];
  if (container === undefined || more.length > 0) throw new Error('a pod has one container here');
  const input = inputOf(pod, container, manifests.objects);
  const { runAsUser, runAsGroup } = pod.securityContext ?? {};
  return {
    container: inImage({
      root: manifests.root,
      command: [...(container.command ?? []), ...(container.args ?? [])],
      env: input.environment,
      mounts: mountsOf(path.join(manifests.folder, namespace.name), input),
      user: { uid: Number(runAsUser), gid: Number(runAsGroup) },
      namespace,
    }),
    probes: probesOf(container),
    preStopMs: (container.lifecycle?.preStop?.sleep?.seconds ?? 0) * 1000,
    graceMs: (pod.terminationGracePeriodSeconds ?? DEFAULTS.grace) * 1000,
  };
}

function probesOf(container: Container): Probes {
  const probeOf = (probe: Timed | undefined): Probe | undefined =>
    probe?.httpGet === undefined
      ? undefined
      : {
          port: portOf(probe.httpGet.port, [container]),
          path: probe.httpGet.path,
          periodMs: (probe.periodSeconds ?? DEFAULTS.period) * 1000,
          timeoutMs: (probe.timeoutSeconds ?? DEFAULTS.timeout) * 1000,
          failureThreshold: probe.failureThreshold ?? DEFAULTS.failures,
        };
  const [startup, liveness, readiness] = [
    probeOf(container.startupProbe),
    probeOf(container.livenessProbe),
    probeOf(container.readinessProbe),
  ];
  return {
    ...(startup === undefined ? {} : { startup }),
    ...(liveness === undefined ? {} : { liveness }),
    ...(readiness === undefined ? {} : { readiness }),
  };
}

/** Writes the files to the machine, each folder of the container to one of its own. */
function mountsOf(folder: string, { files, writable }: ContainerInput): readonly Mount[] {
  const folders = Map.groupBy(Object.entries(files), ([file]) => path.dirname(file));
  return [
    ...writable.map((to) => ({ to })),
    ...[...folders].map(([to, some], at) => {
      const from = path.join(folder, String(at));
      writeVolume(from, new Map(some.map(([file, text]) => [path.basename(file), text])));
      return { to, from };
    }),
  ];
}

/** Writes the files as a kubelet does: links into `..data`, which is a link to a folder of the moment. */
function writeVolume(folder: string, files: ReadonlyMap<string, string>): void {
  const moment = path.join(folder, '..moment');
  mkdirSync(moment, { recursive: true });
  symlinkSync('..moment', path.join(folder, '..data'));
  for (const [name, text] of files) {
    writeFileSync(path.join(moment, name), text);
    symlinkSync(path.join('..data', name), path.join(folder, name));
  }
}
