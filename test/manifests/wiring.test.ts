import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import { ROOT } from '../image/dockerfile.ts';
import { describeManifests } from './describe-manifests.ts';
import { podLabelsOf, podOf, workloadsOf } from './pods.ts';
import { yamlDocuments } from './platform-packages.ts';
import type { KubernetesObject } from './render.ts';

const DNS_TARGET = /^dns:\/\/\/([a-z-]+)\.([a-z-]+)\.svc\.cluster\.local\.:(\d+)$/;
const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };

interface ServiceSpec {
  readonly clusterIP?: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: string }[];
}

const ofKind = (objects: readonly KubernetesObject[], ...kinds: readonly string[]): readonly KubernetesObject[] =>
  objects.filter(({ kind }) => kinds.includes(kind));
const namesOf = (objects: readonly KubernetesObject[], kind: string): readonly string[] =>
  ofKind(objects, kind).map(({ metadata }) => metadata.name);
const serviceOf = (objects: readonly KubernetesObject[], name: string): ServiceSpec | undefined =>
  ofKind(objects, 'Service').find(({ metadata }) => metadata.name === name)?.spec as ServiceSpec | undefined;
const selects = (selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);

describeManifests('objects fit together', (rendered) => {
  test('every Service selects one workload, and each of its ports is one of the container', () => {
    const { objects } = rendered();
    const workloads = ofKind(objects, 'Deployment', 'StatefulSet');

    for (const service of ofKind(objects, 'Service')) {
      const spec = service.spec as unknown as ServiceSpec;
      const selected = workloads.filter((workload) => selects(spec.selector, podLabelsOf(workload)));
      expect([service.metadata.name, selected.length]).toEqual([service.metadata.name, 1]);
      const ports = podOf(selected[0]!).containers.flatMap(({ ports: own = [] }) => own);
      for (const { port, targetPort } of spec.ports) {
        const target = ports.find(({ name }) => name === targetPort);
        // a headless Service forwards nothing: its callers dial the port of the pod
        if (spec.clusterIP === 'None') expect(target?.containerPort).toBe(port);
        else expect(target).toBeDefined();
      }
    }
  });

  test('no Service selects the pods of a Job', () => {
    const { objects } = rendered();
    const labels = ofKind(objects, 'Job').map(podLabelsOf);
    const taken = ofKind(objects, 'Service').filter(({ spec }) =>
      labels.some((one) => selects((spec as unknown as ServiceSpec).selector, one)),
    );

    expect(taken).toEqual([]);
  });

  test('the addresses that services call are those of Services, and calls over gRPC see every replica', () => {
    const { objects } = rendered();
    const settings = ofKind(objects, 'ConfigMap').find(({ data }) => data?.['settings.yaml'] !== undefined);
    const [value] = yamlDocuments(settings?.data?.['settings.yaml'] ?? '') as {
      gateway: { services: Record<string, string> };
    }[];
    const { media_http: bytes = '', ...grpc } = value?.gateway.services ?? {};
    const [host = '', port] = bytes.split(':');

    expect(Object.keys(grpc)).toEqual(['tasks', 'billing', 'media']);
    for (const target of Object.values(grpc)) {
      const [, name = '', namespace, grpcPort] = DNS_TARGET.exec(target) ?? [];
      expect(namespace).toBe('reelgate');
      expect(serviceOf(objects, name)).toMatchObject({
        clusterIP: 'None',
        publishNotReadyAddresses: false,
        ports: [{ port: Number(grpcPort) }],
      });
    }
    expect(serviceOf(objects, host)?.ports).toContainEqual(expect.objectContaining({ port: Number(port) }));
  });

  test('every service account exists and gets no token', () => {
    const { objects } = rendered();
    const accounts = ofKind(objects, 'ServiceAccount') as readonly (KubernetesObject & {
      automountServiceAccountToken?: boolean;
    })[];
    const used = workloadsOf(objects).flatMap((workload) => podOf(workload).serviceAccountName ?? []);

    expect(accounts.map(({ automountServiceAccountToken: token }) => token)).toEqual(accounts.map(() => false));
    expect(used.filter((name) => !namesOf(objects, 'ServiceAccount').includes(name))).toEqual([]);
  });

  test('the image, its label and the names of the Jobs have the version of this release', () => {
    const { objects } = rendered();
    const images = workloadsOf(objects)
      .flatMap((workload) => podOf(workload).containers)
      .filter(({ image }) => image.includes('reelgate'));

    expect(images.filter(({ image }) => !image.endsWith(`:${version}`))).toEqual([]);
    expect(objects.find(({ kind }) => kind === 'Namespace')?.metadata.labels).toMatchObject({
      'app.kubernetes.io/version': version,
    });
    expect(namesOf(objects, 'Job').filter((name) => !name.endsWith(`-${version}`))).toEqual([]);
  });

  test('services that only check their store have a Job that migrates it', () => {
    const { objects } = rendered();
    const checking = ofKind(objects, 'Deployment').filter((one) =>
      podOf(one).containers[0]?.env?.some(({ name, value }) => name === 'MIGRATIONS' && value === 'check'),
    );
    const migrated = ofKind(objects, 'Job').map((job) => podOf(job).containers[0]?.command?.slice(-3));

    expect(checking.map(({ metadata }) => ['reelgate', 'migrate', metadata.name]).sort()).toEqual([...migrated].sort());
  });

  test('an autoscaler owns the number of replicas that it scales, alone, and keeps two', () => {
    const { objects } = rendered();
    const scaled = ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').map(({ spec }) => ({
      name: (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name,
      least: spec?.['minReplicas'] ?? spec?.['minReplicaCount'],
    }));
    const names = scaled.map(({ name }) => name);

    expect(new Set(names).size).toBe(names.length);
    expect(scaled.filter(({ least }) => Number(least) < 2)).toEqual([]);
    for (const { metadata, spec } of ofKind(objects, 'Deployment'))
      expect([metadata.name, spec?.['replicas'] === undefined]).toEqual([metadata.name, names.includes(metadata.name)]);
  });

  test('what monitoring and scaling name exists: ports, metrics, the consumer of billing', () => {
    const { objects, text } = rendered();
    const metrics = readFileSync(path.join(ROOT, 'deploy/metrics.md'), 'utf8');
    // test/monitoring looks for the metrics of the alerts in a running program
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'PrometheusRule'));
    const named = new Set(others.match(/\breelgate_[a-z_]+/g));
    for (const { metadata, spec } of ofKind(objects, 'PodMonitor')) {
      const deployment = objects.find(
        ({ kind, metadata: { name } }) => kind === 'Deployment' && name === metadata.name,
      );
      const ports = podOf(deployment!).containers[0]?.ports?.map(({ name }) => name);
      const [endpoint] = (spec as { podMetricsEndpoints: { port: string }[] }).podMetricsEndpoints;
      expect(ports).toContain(endpoint?.port);
    }
    const consumers = [...text.matchAll(/consumer: (\S+)/g)].map(([, name]) => name);

    expect([...named].filter((name) => !metrics.includes(`\`${name}\``))).toEqual([]);
    expect(consumers.filter((name) => name !== `billing-${TaskFinishedSchema.typeName.replaceAll('.', '-')}`)).toEqual(
      [],
    );
  });

  test('the door leads to the gateway, without a limit of time and without a retry', () => {
    const { objects } = rendered();
    for (const { spec } of ofKind(objects, 'HTTPRoute')) {
      const [rule] = (spec as { rules: Record<string, unknown>[] }).rules;
      expect(rule).toEqual({
        backendRefs: [{ name: 'gateway', port: serviceOf(objects, 'gateway')?.ports[0]?.port }],
        timeouts: { request: '0s', backendRequest: '0s' },
      });
    }
    for (const { metadata } of ofKind(objects, 'Ingress'))
      expect(metadata.annotations).toMatchObject({ 'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off' });
  });
});

describeManifests('secrets', (rendered, variant) => {
  test('come from outside, except for trials on one machine', () => {
    const { objects } = rendered();
    const isThere = new Set([...namesOf(objects, 'Secret'), ...namesOf(objects, 'ExternalSecret')]);
    const named = workloadsOf(objects).flatMap((workload) => {
      const { containers, volumes = [] } = podOf(workload);
      return [
        ...containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? [])),
        ...volumes.flatMap(({ secret }) => secret?.secretName ?? []),
      ];
    });

    expect(named.filter((name) => !isThere.has(name))).toEqual([]);
    if (variant !== 'local') expect(namesOf(objects, 'Secret')).toEqual([]);
  });

  test('of the local overlay have the address of the sandbox that media may fetch from', () => {
    if (variant !== 'local') return;
    const { objects, text } = rendered();
    const address = `${serviceOf(objects, 'sandbox')?.clusterIP ?? ''}:9200`;

    expect(text).toContain(`fetch: { allow: [{ host: "${address}", for: results }] }`);
    expect(text).toContain(`value: ${address}`);
  });
});
