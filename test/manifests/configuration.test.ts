import { expect, test } from '@jest/globals';
import { parseBytes, parseDuration } from '@reelgate/platform/config/units';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { ServiceName } from '../../deploy/program/config/program-config.ts';
import { deriveServiceKey } from '../../deploy/program/keys/service-key.ts';
import { namesIn, readContainerConfig } from './container-config.ts';
import { describeManifests } from './describe-manifests.ts';
import { inputOf, podOf } from './pods.ts';
import type { ContainerInput, Pod } from './pods.ts';
import type { KubernetesObject, Rendered } from './render.ts';

/** From the end of the drain to the end of the process, at most. */
const END_MARGIN_MS = 20_000;
const MIB = 1024 ** 2;
/** Variables that no file of the configuration names. */
const OF_THE_PROGRAM = ['REELGATE_CONFIG'];
/** What no overlay gives: the Secrets from outside. Every key of one that a container reads has a value. */
const fromOutside = (_name: string, key: string): string =>
  key.endsWith('url') ? 'postgres://user:password@store:5432/name' : 'a-value-from-outside';
const urlsFromOutside = (name: string, key: string): string =>
  name === 'reelgate-keys'
    ? deriveServiceKey(key as ServiceName, acceptOnly(new Secret('a-signing-key-from-outside'))).reveal()
    : ({ 'reelgate-nats': 'nats://store:4222', 'reelgate-redis': 'redis://store:6379' }[name] ??
      fromOutside(name, key));

interface Service {
  readonly name: ServiceName;
  readonly pod: Pod;
  readonly input: ContainerInput;
}

/** The Secrets that External Secrets fills have the properties that the lists name. */
function withOutsideFiles(input: ContainerInput): ContainerInput {
  const named = [...namesIn(input).secrets].filter((file) => input.files[file] === undefined);
  return {
    ...input,
    files: { ...input.files, ...Object.fromEntries(named.map((file) => [file, fromOutside('', file)])) },
  };
}

function servicesOf({ objects }: Rendered): readonly Service[] {
  // the components without an overlay have no lists
  const lists: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'reelgate-lists' },
    data: Object.fromEntries(
      ['models', 'channels', 'prices', 'accounts', 'tokens'].map((name) => [`${name}.yaml`, '']),
    ),
  };
  const all = objects.some(({ metadata }) => metadata.name === 'reelgate-lists') ? objects : [...objects, lists];
  return (['gateway', 'tasks', 'billing', 'media'] as const).map((name) => {
    const deployment = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
    const pod = podOf(deployment!);
    return { name, pod, input: withOutsideFiles(inputOf(pod, pod.containers[0]!, all, urlsFromOutside)) };
  });
}

interface Value {
  readonly gateway: { readonly drain: Drain };
  readonly tasks: { readonly drain: Drain };
  readonly billing: { readonly drain: Drain };
  readonly media: {
    readonly drain: Drain;
    readonly probe: { readonly memory: string; readonly workers: number; readonly result_workers: number };
    readonly results: { readonly max_bytes: string; readonly parallel: number };
  };
}
interface Drain {
  readonly lead: string;
  readonly timeout: string;
}

describeManifests('the configuration', (rendered, variant) => {
  test('of every service starts it, without a warning', () => {
    const warned = servicesOf(rendered()).map(({ name, input }) => [name, readContainerConfig(input, name).warnings]);

    expect(warned).toEqual([
      ['gateway', []],
      ['tasks', []],
      ['billing', []],
      ['media', []],
    ]);
  });

  test('of every service names each variable and each credential that the service is given, and no other', () => {
    for (const { input } of servicesOf(rendered())) {
      const { variables, secrets } = namesIn(input);
      const given = Object.keys(input.environment).filter((name) => !OF_THE_PROGRAM.includes(name));
      const mounted = Object.keys(input.files).filter((name) => name.startsWith('/run/secrets/'));
      expect([...variables].filter((name) => name !== 'MIGRATIONS' && !given.includes(name))).toEqual([]);
      expect(given.filter((name) => !variables.has(name))).toEqual([]);
      expect(mounted.sort()).toEqual([...secrets].sort());
    }
  });

  test('lets every service end before it is killed', () => {
    for (const { name, pod, input } of servicesOf(rendered())) {
      const { drain } = (readContainerConfig(input, name).config.value as Value)[name];
      const needed = (parseDuration(drain.lead) ?? 0) + (parseDuration(drain.timeout) ?? 0) + END_MARGIN_MS;
      expect(needed).toBeGreaterThan(END_MARGIN_MS);
      expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThanOrEqual(needed);
    }
  });

  test('of media fits into its memory and its disk', () => {
    const { pod, input } = servicesOf(rendered()).find(({ name }) => name === 'media')!;
    const { probe, results } = (readContainerConfig(input, 'media').config.value as Value).media;
    const parsers = (probe.workers + probe.result_workers + 1) * (parseBytes(probe.memory) ?? 0);
    const limit = mebibytes(pod.containers[0]?.resources?.limits?.['memory']);
    const data = pod.volumes?.find(({ name }) => name === 'data')?.emptyDir?.sizeLimit;

    expect(limit).toBeGreaterThanOrEqual(parsers / MIB + 1024);
    expect(mebibytes(data)).toBeGreaterThanOrEqual((results.parallel * (parseBytes(results.max_bytes) ?? 0)) / MIB);
  });

  test('reaches a running process as a folder that keeps its name, and a new start as one that does not', () => {
    const names = rendered()
      .objects.filter(({ kind }) => kind === 'ConfigMap')
      .map(({ metadata }) => metadata.name);

    expect(names.filter((name) => /^settings(-[a-z]+)?-[a-z0-9]{10}$/.test(name)).length).toBe(5);
    if (variant !== 'other components') expect(names).toContain('reelgate-lists');
  });
});

const mebibytes = (quantity = ''): number => {
  const [, count, unit] = /^(\d+)([MG])i$/.exec(quantity) ?? [];
  return Number(count) * (unit === 'G' ? 1024 : 1);
};
