import { newValidator } from './platform-packages.ts';
import type { KubernetesObject } from './render.ts';

/** Strict schemas of the fields that the manifests use of custom resources: an unknown field is refused. */
const closed = (properties: Readonly<Record<string, object>>, required = Object.keys(properties)): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const list = (items: object, minItems = 1): object => ({ type: 'array', minItems, items });
const text = { type: 'string', minLength: 1 };
const integer = { type: 'integer', minimum: 0 };
const duration = { type: 'string', pattern: '^([0-9]{1,5}(h|m|s|ms)){1,4}$' };
const strings = { type: 'object', additionalProperties: text };
const metadata = closed({ name: text, namespace: text, labels: strings }, ['name', 'namespace']);
const object = (apiVersion: string, kind: string, spec: object): object =>
  closed({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec });

const policies = list(closed({ type: { enum: ['Percent', 'Pods'] }, value: integer, periodSeconds: integer }));
const scaling = closed({ stabilizationWindowSeconds: integer, policies });

const TRIGGERS = [
  closed({
    type: { const: 'cpu' },
    metricType: { const: 'Utilization' },
    metadata: closed({ value: text }),
  }),
  closed({
    type: { const: 'prometheus' },
    metadata: closed({ serverAddress: text, query: text, threshold: text, activationThreshold: text }),
  }),
  closed({
    type: { const: 'nats-jetstream' },
    metadata: closed({
      natsServerMonitoringEndpoint: text,
      account: text,
      stream: text,
      consumer: text,
      lagThreshold: text,
      activationLagThreshold: text,
    }),
  }),
];

const RULES = [
  closed({ record: text, labels: strings, expr: text }, ['record', 'expr']),
  closed({ alert: text, expr: text, for: duration, labels: strings, annotations: strings }, [
    'alert',
    'expr',
    'labels',
    'annotations',
  ]),
];

/** By `apiVersion/kind`. */
const CUSTOM_RESOURCES: Readonly<Record<string, object>> = {
  'monitoring.coreos.com/v1/PodMonitor': object(
    'monitoring.coreos.com/v1',
    'PodMonitor',
    closed({
      selector: closed({ matchLabels: strings }),
      podMetricsEndpoints: list(
        closed({
          port: text,
          path: text,
          interval: duration,
          scrapeTimeout: duration,
          honorLabels: { const: true },
          relabelings: list(closed({ targetLabel: text, replacement: text })),
        }),
      ),
    }),
  ),
  'monitoring.coreos.com/v1/PrometheusRule': object(
    'monitoring.coreos.com/v1',
    'PrometheusRule',
    closed({ groups: list(closed({ name: text, rules: list({ oneOf: RULES }) })) }),
  ),
  'gateway.networking.k8s.io/v1/HTTPRoute': object(
    'gateway.networking.k8s.io/v1',
    'HTTPRoute',
    closed({
      parentRefs: list(closed({ name: text, namespace: text })),
      hostnames: list(text),
      rules: list(
        closed({
          backendRefs: list(closed({ name: text, port: integer })),
          timeouts: closed({ request: duration, backendRequest: duration }),
        }),
      ),
    }),
  ),
  'keda.sh/v1alpha1/ScaledObject': object(
    'keda.sh/v1alpha1',
    'ScaledObject',
    closed({
      scaleTargetRef: closed({ name: text }),
      pollingInterval: integer,
      minReplicaCount: integer,
      maxReplicaCount: integer,
      advanced: closed({
        horizontalPodAutoscalerConfig: closed({ behavior: closed({ scaleUp: scaling, scaleDown: scaling }) }),
      }),
      triggers: list({ oneOf: TRIGGERS }),
    }),
  ),
  'external-secrets.io/v1/ExternalSecret': object(
    'external-secrets.io/v1',
    'ExternalSecret',
    closed(
      {
        refreshInterval: duration,
        secretStoreRef: closed({ kind: { enum: ['SecretStore', 'ClusterSecretStore'] }, name: text }),
        target: closed({ name: text, creationPolicy: { enum: ['Owner', 'Merge', 'None'] } }),
        data: list(closed({ secretKey: text, remoteRef: closed({ key: text, property: text }) })),
        dataFrom: list(closed({ extract: closed({ key: text }) })),
      },
      ['refreshInterval', 'secretStoreRef', 'target'],
    ),
  ),
};

/** What is wrong with a custom resource. */
export function faultsOf(object: KubernetesObject): readonly string[] {
  const name = `${object.kind} ${object.metadata.name}`;
  const schema = CUSTOM_RESOURCES[`${object.apiVersion}/${object.kind}`];
  if (schema === undefined) return [`${name} has no schema`];
  const validator = newValidator();
  return validator.validate(schema, object) ? [] : [`${name}: ${validator.errorsText()}`];
}
