import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { deriveServiceKey } from '../../deploy/program/keys/service-key.ts';
import { SERVICE_NAMES } from '../../deploy/program/keys/identities.ts';
import { describeManifests } from './describe-manifests.ts';
import { podOf, workloadsOf } from './pods.ts';
import { KUBERNETES } from './render.ts';

const TRIALS = acceptOnly(new Secret('local-signing-key-of-trials'));
const PROFILE = 'reelgate-media.json';

describe('the trial keys of the local overlay', () => {
  test.each(SERVICE_NAMES)('that of %s is what `reelgate keys derive` prints', (name) => {
    const written = readFileSync(path.join(KUBERNETES, 'overlays/local/keys', name), 'utf8').trim();

    expect(written).toBe(deriveServiceKey(name, TRIALS).reveal());
  });
});

test('the profile of system calls permits user namespaces, and refuses the reach into other processes', () => {
  const profile = JSON.parse(readFileSync(path.join(KUBERNETES, 'node/seccomp', PROFILE), 'utf8')) as {
    readonly defaultAction: string;
    readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string }[];
  };
  const refused = profile.syscalls.filter(({ action }) => action === 'SCMP_ACT_ERRNO').flatMap(({ names }) => names);

  expect(profile.defaultAction).toBe('SCMP_ACT_ALLOW');
  for (const name of ['unshare', 'clone', 'clone3', 'seccomp', 'landlock_restrict_self'])
    expect(refused).not.toContain(name);
  for (const name of ['ptrace', 'process_vm_readv', 'pidfd_getfd', 'mount', 'setns', 'bpf', 'io_uring_setup', 'keyctl'])
    expect(refused).toContain(name);
});

describeManifests('secrets of parsers', (rendered, variant) => {
  test('no pod has the signing key, and a service has no keys but its own', () => {
    const given = workloadsOf(rendered().objects).flatMap((workload) =>
      podOf(workload).containers.flatMap(({ command = [], env = [] }) =>
        env.flatMap(({ valueFrom }) => {
          const { name, key } = valueFrom?.secretKeyRef ?? {};
          return name?.startsWith('reelgate-keys') === true ? [[command.at(-1), key]] : [];
        }),
      ),
    );

    expect(rendered().text).not.toContain('SIGNING_KEY');
    expect(given.map(([service]) => service)).toEqual(expect.arrayContaining([...SERVICE_NAMES]));
    for (const [service, key] of given) expect(key).toBe(service);
    expect(rendered().text).toContain('require_service_key: true');
  });

  test('media starts with no weaker confinement than its pod gives', () => {
    const { objects, text } = rendered();
    const media = podOf(objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'media')!);
    const hasNamespaces = variant !== 'local';

    expect(media).toMatchObject(
      hasNamespaces
        ? { hostUsers: false, securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: PROFILE } } }
        : { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
    );
    expect(text.includes('confinement: namespaces')).toBe(hasNamespaces);
    expect(text.includes('confinement: landlock')).toBe(!hasNamespaces);
  });
});
