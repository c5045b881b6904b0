import { expect, test } from '@jest/globals';
import { describeManifests } from './describe-manifests.ts';
import { podLabelsOf, podOf, workloadsOf } from './pods.ts';
import type { Container, Pod, Probe } from './pods.ts';
import type { KubernetesObject } from './render.ts';

/** The kinds of volumes that the restricted profile allows, of those that the manifests use. */
const VOLUMES = ['emptyDir', 'configMap', 'secret', 'projected'];
const SERVICES = ['gateway', 'tasks', 'billing', 'media'];

const RESTRICTED_POD = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: expect.objectContaining({
    runAsNonRoot: true,
    // a kubelet cannot check a user that has only a name
    runAsUser: expect.any(Number),
  }),
};
/** The profile of the runtime, or that of this repository, which permits the namespaces of parsers. */
const PROFILES = [{ type: 'RuntimeDefault' }, { type: 'Localhost', localhostProfile: 'reelgate-media.json' }];
const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

const containersOf = (pod: Pod): readonly Container[] => [...(pod.initContainers ?? []), ...pod.containers];
const deploymentsOf = (objects: readonly KubernetesObject[]): readonly KubernetesObject[] =>
  objects.filter(({ kind, metadata }) => kind === 'Deployment' && SERVICES.includes(metadata.name));

/** The ports that a container's probes ask, by name or number. */
const probedPorts = ({ startupProbe, livenessProbe, readinessProbe }: Container): readonly (string | number)[] =>
  [startupProbe, livenessProbe, readinessProbe]
    .filter((probe): probe is Probe => probe !== undefined)
    .flatMap(({ httpGet, tcpSocket }) => httpGet?.port ?? tcpSocket?.port ?? []);

describeManifests('pods', (rendered) => {
  test('every pod is as confined as the restricted profile asks, and its root is read-only', () => {
    const pods = workloadsOf(rendered().objects).map(podOf);

    expect(pods.length).toBeGreaterThan(3);
    for (const pod of pods) {
      expect(pod).toMatchObject(RESTRICTED_POD);
      expect(pod.securityContext?.['runAsUser']).not.toBe(0);
      for (const { securityContext } of containersOf(pod)) expect(securityContext).toEqual(RESTRICTED_CONTAINER);
      expect(PROFILES).toContainEqual(pod.securityContext?.['seccompProfile']);
      // `hostUsers: false` takes the users of the node away
      const ofHost = Object.entries(pod).filter(([key, value]) => key.startsWith('host') && value !== false);
      expect(ofHost).toEqual([]);
      const kinds = (pod.volumes ?? []).flatMap(({ name: _name, ...kind }) => Object.keys(kind));
      expect(kinds.filter((kind) => !VOLUMES.includes(kind))).toEqual([]);
    }
  });

  test('the namespace lets the API server refuse anything less', () => {
    const namespace = rendered().objects.find(({ kind }) => kind === 'Namespace');

    expect(namespace?.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  test('every container has requests, a limit of memory, a bounded /tmp and an image of one version', () => {
    for (const pod of workloadsOf(rendered().objects).map(podOf))
      for (const container of containersOf(pod)) {
        const { resources, image, volumeMounts = [] } = container;
        const tmp = volumeMounts.find(({ mountPath }) => mountPath === '/tmp');
        expect(resources?.requests).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) });
        expect(resources?.limits).toMatchObject({ memory: expect.any(String) });
        expect(image).toMatch(/:(?!latest)[\w.-]+$|@sha256:/);
        expect(pod.volumes?.find(({ name }) => name === tmp?.name)?.emptyDir?.sizeLimit).toMatch(/^\d+[MG]i$/);
      }
  });

  test('no mount has a subPath, because such a file never changes', () => {
    expect(rendered().text).not.toContain('subPath');
  });

  test('every probe asks a port that its container has', () => {
    const asked = workloadsOf(rendered().objects).flatMap((workload) =>
      podOf(workload).containers.flatMap((container) => {
        const ports = (container.ports ?? []).flatMap(({ name, containerPort }) => [name, containerPort]);
        return probedPorts(container)
          .filter((port) => !ports.includes(port))
          .map((port) => `${workload.metadata.name}: ${port}`);
      }),
    );

    expect(asked).toEqual([]);
  });

  test('every service has a startup, a liveness and a readiness probe of its own', () => {
    for (const deployment of deploymentsOf(rendered().objects)) {
      const [container] = podOf(deployment).containers;
      expect(container?.startupProbe?.httpGet?.path).toBe('/healthz');
      expect(container?.livenessProbe?.httpGet?.path).toBe('/healthz');
      expect(container?.readinessProbe?.httpGet?.path).toBe('/readyz');
    }
  });

  test('every service is spread over nodes and zones by rollout, and has a disruption budget', () => {
    const { objects } = rendered();
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ spec }) => spec);
    const deployments = deploymentsOf(objects);

    expect(deployments.map(({ metadata }) => metadata.name).sort()).toEqual([...SERVICES].sort());
    for (const deployment of deployments) {
      const { selector } = deployment.spec as { selector: { matchLabels: Record<string, string> } };
      expect(podLabelsOf(deployment)).toMatchObject(selector.matchLabels);
      expect(podOf(deployment).topologySpreadConstraints).toEqual(
        ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) =>
          expect.objectContaining({
            topologyKey,
            labelSelector: selector,
            matchLabelKeys: ['pod-template-hash'],
          }),
        ),
      );
      expect(budgets).toContainEqual({
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector,
      });
      expect(deployment.spec?.['strategy']).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
    }
  });
});
