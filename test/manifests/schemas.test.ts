import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { faultsOf } from './custom-resources.ts';
import type { KubernetesObject } from './render.ts';
import { missingTools, runTool } from './tools.ts';
import { VARIANTS, renderVariant } from './variants.ts';

const CHECK_TIMEOUT_MS = 120_000;
const RELEASES = ['1.30', '1.34', '1.37'];
/** The API groups of Kubernetes itself, whose schemas the validator has. */
const CORE = ['v1', 'apps/v1', 'batch/v1', 'policy/v1', 'autoscaling/v2', 'networking.k8s.io/v1'];

interface Exception {
  /** Begins the name of the object, or is empty. */
  readonly object: string;
  readonly says: string;
  readonly because: string;
}

/** What kube-score finds and the manifests mean. */
const EXCEPTIONS: readonly Exception[] = [
  {
    object: '',
    says: 'CPU limit is not set',
    because: 'a limit of CPU stops the one event loop of a pod while its node has time left; requests share the node',
  },
  {
    object: '',
    says: 'ImagePullPolicy is not set to Always',
    because: 'images are pinned by version or digest, and a pod must start while the registry is away',
  },
  {
    object: '',
    says: 'does not have a host podAntiAffinity set',
    because: 'topologySpreadConstraints with matchLabelKeys do it, and count the pods of one rollout alone',
  },
  ...['postgres', 'redis', 'nats', 'minio'].flatMap((object) => [
    { object, says: 'running with a low user ID', because: 'it is the user of the image, which owns its files' },
    { object, says: 'running with a low group ID', because: 'it is the group of the image, which owns its files' },
  ]),
];

const missing = missingTools('kustomize', 'kube-score', 'kubernetes-validate');
if (missing !== undefined) process.stderr.write(`skipped: the schemas of the manifests: ${missing}\n`);
const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-manifests-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the strict validator of a release says against the objects; nothing: they are valid. */
function refusals(objects: readonly KubernetesObject[], release: string): string {
  const file = path.join(folder, 'objects.yaml');
  writeFileSync(file, objects.map((one) => JSON.stringify(one)).join('\n---\n'));
  const { status, out, err } = runTool('kubernetes-validate', ['-k', release, '--strict', file]);
  const lines = `${out}${err}`.split('\n').filter((line) => line !== '' && !line.startsWith('INFO'));
  return status === 0 && lines.length === 0 ? '' : `exit ${String(status)}: ${lines.join('\n')}`;
}

const isCore = ({ apiVersion }: KubernetesObject): boolean => CORE.includes(apiVersion);

const checked = missing === undefined ? describe : describe.skip;

checked('every object of Kubernetes in every variant', () => {
  test.each(RELEASES)(
    'has the schema of release %s, without an unknown field',
    (release) => {
      // Most objects are the same in every variant.
      const distinct = new Map(
        VARIANTS.flatMap((variant) => renderVariant(variant).objects)
          .filter(isCore)
          .map((one) => [JSON.stringify(one), one]),
      );

      expect(distinct.size).toBeGreaterThan(50);
      expect(refusals([...distinct.values()], release)).toBe('');
    },
    CHECK_TIMEOUT_MS,
  );

  test(
    'is refused with an unknown field, so that the schemas can fail',
    () => {
      const [gateway] = renderVariant('local').objects.filter(({ kind }) => kind === 'Deployment');
      const wrong = { ...gateway!, spec: { ...gateway!.spec, minReadySecond: 5 } };

      expect(refusals([wrong], '1.34')).toContain('minReadySecond');
    },
    CHECK_TIMEOUT_MS,
  );
});

checked.each(VARIANTS)('%s', (variant) => {
  test('every custom resource has a schema and only the fields of it', () => {
    const custom = renderVariant(variant).objects.filter((one) => !isCore(one));

    expect(custom.flatMap(faultsOf)).toEqual([]);
  });

  test(
    'kube-score finds nothing critical but what has a reason',
    () => {
      const { out } = runTool('kube-score', ['score', '-', '--output-format', 'ci'], renderVariant(variant).text);
      const lines = out.split('\n').filter((line) => line.startsWith('[CRITICAL]'));
      const isExcepted = (line: string): boolean =>
        EXCEPTIONS.some(({ object, says }) => line.startsWith(`[CRITICAL] ${object}`) && line.includes(says));

      expect(out).toContain('[OK]');
      expect(lines.filter((line) => !isExcepted(line))).toEqual([]);
    },
    CHECK_TIMEOUT_MS,
  );
});
