import { ConfigError } from '@reelgate/platform/config/config-file';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import { isWeaker } from './levels.ts';
import type { ConfinementLevel } from './levels.ts';

const MEANS: Readonly<Record<ConfinementLevel, string>> = {
  namespaces: 'in a user namespace without a network, with the named files alone',
  landlock: 'with the named files alone and without a socket, in the user namespace of media',
  process: 'in a process of its own, which can open every file that the user of media can open',
};
const HELP: Readonly<Record<ConfinementLevel, string>> = {
  namespaces: '',
  landlock: 'allow user namespaces: sysctl user.max_user_namespaces, or a seccomp profile that permits unshare',
  process: 'a Linux kernel with Landlock (5.13 or later) and perl let media close its files to parsers',
};

/** Refuses the start where parsers would be less confined than the configuration accepts. */
export function assertConfined(level: ConfinementLevel, least: ConfinementLevel): void {
  if (!isWeaker(level, least)) return;
  throw new ConfigError(
    `media.probe.confinement: parsers run ${MEANS[level]} (${level}) on this machine; expected ${least}: ${HELP[level]}; ` +
      `or accept ${level}`,
  );
}

export interface ConfinedAt {
  readonly level: ConfinementLevel;
}

/** Reports how parsers are confined. */
export function confinementCheck(confinement: () => Promise<ConfinedAt>): SelfCheck {
  return {
    part: 'parsers',
    check: async () => {
      const { level } = await confinement();
      const detail = `parsers run ${MEANS[level]} (${level})`;
      return level === 'process' ? { grade: 'warn', detail, advice: HELP[level] } : ok(detail);
    },
  };
}
