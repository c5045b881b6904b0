import { BlockList } from 'node:net';
import { expect, test } from '@jest/globals';
import { CALLED, SERVICE_NAMES } from '../../deploy/program/config/program-config.ts';
import { BLOCKED } from '../../services/media/src/fetch/addresses/address-policy.ts';
import { describeManifests } from './describe-manifests.ts';
import { podLabelsOf, workloadsOf } from './pods.ts';
import type { KubernetesObject } from './render.ts';

/** Who reaches public addresses: relayed calls, submissions and polls, and fetches. */
const PUBLIC = ['gateway', 'tasks', 'media'];
/** Outside of it no IPv6 address is public. */
const GLOBAL_UNICAST_6 = '2000::/3';

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[];
}
interface PortRule {
  readonly port: string | number;
}
interface Policy {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly { readonly from: readonly Peer[]; readonly ports: readonly PortRule[] }[];
  readonly egress?: readonly { readonly to: readonly Peer[]; readonly ports: readonly PortRule[] }[];
}

const policiesOf = (objects: readonly KubernetesObject[]): readonly (Policy & { readonly name: string })[] =>
  objects
    .filter(({ kind }) => kind === 'NetworkPolicy')
    .map(({ spec, metadata }) => ({ ...(spec as unknown as Policy), name: metadata.name }));
const componentOf = (selector?: Selector): string | undefined => selector?.matchLabels?.['app.kubernetes.io/component'];
const version = (cidr: string): 'ipv4' | 'ipv6' => (cidr.includes(':') ? 'ipv6' : 'ipv4');
/** `Subnet: IPv4 10.0.0.0/8` as `10.0.0.0/8`. */
const BLOCKED_CIDRS = BLOCKED.rules.map((rule) => rule.split(' ').at(-1) ?? '');
const isWithin = (cidr: string, outer: string): boolean => {
  const [network = '', bits] = outer.split('/');
  const [address = '', own] = cidr.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(bits), version(outer));
  return Number(own) >= Number(bits) && version(cidr) === version(outer) && list.check(address, version(cidr));
};

describeManifests('network policies', (rendered) => {
  const policies = (): ReturnType<typeof policiesOf> => policiesOf(rendered().objects);
  const policyOf = (name: string): Policy => policies().find((one) => one.name === name)!;

  test('deny everything in both directions that no other policy allows, and leave DNS', () => {
    expect(policyOf('default-deny')).toMatchObject({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    expect(policyOf('default-deny')).not.toHaveProperty('ingress');
    expect(policyOf('default-deny')).not.toHaveProperty('egress');
    expect(policyOf('dns').egress?.[0]?.ports).toEqual([
      { protocol: 'UDP', port: 53 },
      { protocol: 'TCP', port: 53 },
    ]);
  });

  test.each(SERVICE_NAMES)('let %s call the services that it calls, and no other', (caller) => {
    const { egress = [] } = policyOf(caller);
    const called = egress.flatMap(({ to, ports }) =>
      to.flatMap(({ podSelector }) => ports.map(({ port }) => `${componentOf(podSelector) ?? ''} ${port}`)),
    );
    const expected = CALLED[caller].flatMap((name) =>
      name === 'media' ? ['media grpc', 'media http'] : [`${name} grpc`],
    );
    const ofCommands = caller === 'gateway' ? ['gateway admin'] : [];

    expect(called.filter((one) => !one.startsWith(' '))).toEqual([...ofCommands, ...expected]);
  });

  test.each(SERVICE_NAMES)('let %s be called by its callers, and its operator port by monitoring', (name) => {
    const { ingress = [] } = policyOf(name);
    const callers = ingress.flatMap(({ from }) => from.flatMap(({ podSelector }) => componentOf(podSelector) ?? []));
    const roles = ingress.flatMap(({ from, ports }) =>
      from.flatMap(({ namespaceSelector }) =>
        namespaceSelector === undefined
          ? []
          : [`${namespaceSelector.matchLabels?.['reelgate-access'] ?? '?'} ${String(ports[0]?.port)}`],
      ),
    );

    const called = SERVICE_NAMES.filter((caller) => (CALLED[caller] as readonly string[]).includes(name));

    expect(callers).toEqual(name === 'gateway' ? ['gateway'] : called);
    expect(roles).toEqual(name === 'gateway' ? ['door public', 'monitoring admin'] : ['monitoring http']);
  });

  test('let the doctor in the pod of a gateway ask every process', () => {
    const asked = { gateway: 'admin', tasks: 'grpc', billing: 'grpc', media: 'grpc' };
    const allows = (peers: readonly Peer[], name: string): boolean =>
      peers.some(({ podSelector }) => componentOf(podSelector) === name);
    const has = (ports: readonly PortRule[], port: string): boolean => ports.some((one) => one.port === port);

    for (const [name, port] of Object.entries(asked)) {
      const { egress = [] } = policyOf('gateway');
      const { ingress = [] } = policyOf(name);
      expect([
        name,
        egress.some(({ to, ports }) => allows(to, name) && has(ports, port)),
        ingress.some(({ from, ports }) => allows(from, 'gateway') && has(ports, port)),
      ]).toEqual([name, true, true]);
    }
  });

  test('let gateway, tasks and media reach public addresses, and no private or special one', () => {
    const open = policies().flatMap(({ name, egress = [] }) =>
      egress.flatMap(({ to, ports }) =>
        to.flatMap(({ ipBlock }) =>
          ipBlock?.except === undefined ? [] : [{ name, ...ipBlock, except: ipBlock.except, ports }],
        ),
      ),
    );

    expect([...new Set(open.map(({ name }) => name))].sort()).toEqual([...PUBLIC].sort());
    for (const { cidr, except, ports } of open) {
      expect(['0.0.0.0/0', GLOBAL_UNICAST_6]).toContain(cidr);
      expect(except.filter((one) => !isWithin(one, cidr))).toEqual([]);
      // the same list as that of the guard around every fetch of media
      expect([...except].sort()).toEqual(BLOCKED_CIDRS.filter((one) => isWithin(one, cidr)).sort());
      expect(ports.map(({ port }) => port)).toEqual([443, 80]);
    }
  });

  test('name pods that exist', () => {
    const { objects } = rendered();
    const labels = workloadsOf(objects).map(podLabelsOf);
    const fits = ({ matchLabels = {}, matchExpressions = [] }: Selector): boolean =>
      labels.some(
        (one) =>
          Object.entries(matchLabels).every(([key, value]) => one[key] === value) &&
          matchExpressions.every(({ key, values }) => values.includes(one[key] ?? '')),
      );
    const selectors = policies().flatMap(({ podSelector, ingress = [], egress = [] }) => [
      podSelector,
      ...[...ingress.flatMap(({ from }) => from), ...egress.flatMap(({ to }) => to)].flatMap((peer) =>
        peer.namespaceSelector === undefined ? (peer.podSelector ?? []) : [],
      ),
    ]);

    expect(selectors.length).toBeGreaterThan(8);
    expect(selectors.filter((selector) => !fits(selector))).toEqual([]);
  });
});
