import { ACCESS_MODES } from '@reelgate/platform/log';
import { choice, flag, readSection } from '@reelgate/platform/config/settings';
import type { EntryOf, Section, ValuesOf } from '@reelgate/platform/config/settings';
import type { ProgramLog } from '@reelgate/platform/log';

/** The program's own keys that a reload applies. */
export const LIVE_KEYS = ['log', 'diagnosis'] as const;

export const liveKeys = {
  log: {
    access: choice(
      'the lines of requests and calls that are written: `all`, `errors` for those that were refused or failed, or ' +
        '`off`',
      ACCESS_MODES,
      {
        default: 'all',
        expects: 'the lines of requests and calls: all, errors for those that were refused or failed, or off',
      },
    ),
  },
  diagnosis: {
    profiles: flag(
      'whether an operator may take profiles of the processes; a heap snapshot holds keys and prompts, and stops ' +
        'the process for a moment, so leave it off except while you need one',
      { default: false },
    ),
  },
} satisfies Readonly<Record<(typeof LIVE_KEYS)[number], Section>>;

type LiveValues = ValuesOf<typeof liveKeys>;
export type LiveSettings = LiveValues['log'] & LiveValues['diagnosis'];

/** Reads the settings from a value that the schema has accepted. */
export function liveSettings(value: unknown): LiveSettings {
  const { log, diagnosis } = readSection(liveKeys, value as EntryOf<typeof liveKeys>, '');
  return { ...log, ...diagnosis };
}

export interface AppliedSettings {
  profilesAllowed: () => boolean;
  reload: (value: unknown) => Promise<void>;
}

/** Applies the settings of the start, and those of each reload. */
export function applyLive(log: ProgramLog, started: LiveSettings): AppliedSettings {
  let current = started;
  const apply = (settings: LiveSettings): void => {
    current = settings;
    log.setAccess(settings.access);
  };
  apply(started);
  return {
    profilesAllowed: () => current.profiles,
    reload: async (value) => {
      apply(liveSettings(value));
    },
  };
}
