import type { KubernetesObject } from './render.ts';

/** What the tests read of a pod and its containers. */
export interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentEntry[];
  readonly envFrom?: readonly unknown[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

export interface Probe {
  readonly httpGet?: { readonly port: string | number; readonly path: string };
  readonly tcpSocket?: { readonly port: string | number };
  readonly exec?: { readonly command: readonly string[] };
}

interface EnvironmentEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

interface Source {
  readonly configMap?: Items & { readonly name: string };
  readonly secret?: Items & { readonly name: string };
}

interface Items {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: { readonly sizeLimit?: string };
  readonly configMap?: Items & { readonly name: string };
  readonly secret?: Items & { readonly secretName: string };
  readonly projected?: { readonly sources: readonly Source[] };
}

/** The objects with pods: Deployment, StatefulSet, Job. */
export const workloadsOf = (objects: readonly KubernetesObject[]): readonly KubernetesObject[] =>
  objects.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind));

export const podOf = (workload: KubernetesObject): Pod => (workload.spec as { template: { spec: Pod } }).template.spec;

export const podLabelsOf = (workload: KubernetesObject): Readonly<Record<string, string>> =>
  (workload.spec as { template: { metadata?: { labels?: Record<string, string> } } }).template.metadata?.labels ?? {};

/** What a container gets from the rendered objects. */
export interface ContainerInput {
  readonly environment: Readonly<Record<string, string>>;
  /** The content by absolute path, of every mounted ConfigMap and Secret. */
  readonly files: Readonly<Record<string, string>>;
  /** The paths of the empty folders that it may write to. */
  readonly writable: readonly string[];
}

/**
 * The environment and the files of a container, as a kubelet gives them. `secrets` has the values of Secrets that the
 * objects name and do not contain.
 */
export function inputOf(
  pod: Pod,
  container: Container,
  objects: readonly KubernetesObject[],
  secrets: (name: string, key: string) => string | undefined = () => undefined,
): ContainerInput {
  const find = (kind: string, name: string): KubernetesObject | undefined =>
    objects.find((one) => one.kind === kind && one.metadata.name === name);
  const secret = (name: string, key: string): string => {
    const encoded = find('Secret', name)?.data?.[key];
    const value = encoded === undefined ? secrets(name, key) : Buffer.from(encoded, 'base64').toString();
    if (value === undefined) throw new Error(`the Secret ${name} has no ${key}`);
    return value;
  };
  const secretFiles = (name: string, items: Items['items']): readonly (readonly [string, string])[] => {
    const known = items ?? Object.keys(find('Secret', name)?.data ?? {}).map((key) => ({ key, path: key }));
    return known.map((item) => [item.path, secret(name, item.key)]);
  };
  const mapFiles = (name: string, items: Items['items']): readonly (readonly [string, string])[] => {
    const data = find('ConfigMap', name)?.data;
    if (data === undefined) throw new Error(`there is no ConfigMap ${name}`);
    const known = items ?? Object.keys(data).map((key) => ({ key, path: key }));
    return known.map((item) => {
      const content = data[item.key];
      if (content === undefined) throw new Error(`the ConfigMap ${name} has no ${item.key}`);
      return [item.path, content];
    });
  };
  const filesOf = ({ configMap, secret: one, projected }: Volume): readonly (readonly [string, string])[] => [
    ...(configMap === undefined ? [] : mapFiles(configMap.name, configMap.items)),
    ...(one === undefined ? [] : secretFiles(one.secretName, one.items)),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...(source.configMap === undefined ? [] : mapFiles(source.configMap.name, source.configMap.items)),
      ...(source.secret === undefined ? [] : secretFiles(source.secret.name, source.secret.items)),
    ]),
  ];
  const mounts = (container.volumeMounts ?? []).map(({ name, mountPath }) => {
    const volume = pod.volumes?.find((one) => one.name === name);
    if (volume === undefined) throw new Error(`the pod has no volume ${name}`);
    return { volume, mountPath };
  });
  return {
    environment: Object.fromEntries(
      (container.env ?? []).map(({ name, value, valueFrom }) => {
        const from = valueFrom?.secretKeyRef;
        return [name, from === undefined ? (value ?? '') : secret(from.name, from.key)];
      }),
    ),
    files: Object.fromEntries(
      mounts.flatMap(({ volume, mountPath }) => filesOf(volume).map(([file, text]) => [`${mountPath}/${file}`, text])),
    ),
    writable: mounts.filter(({ volume }) => volume.emptyDir !== undefined).map(({ mountPath }) => mountPath),
  };
}
