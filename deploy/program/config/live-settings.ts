import { ACCESS_MODES } from '@reelgate/platform/log';
import type { AccessMode, ProgramLog } from '@reelgate/platform/log';

/** The program's own keys that a reload applies. */
export const LIVE_KEYS = ['log', 'diagnosis'] as const;

/** The JSON Schema of these keys. */
export const liveSchema = {
  log: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      access: {
        enum: ACCESS_MODES,
        description: 'the lines of requests and calls: all, errors for those that were refused or failed, or off',
        default: 'all',
      },
    },
  },
  diagnosis: {
    type: 'object',
    additionalProperties: false,
    default: {},
    properties: {
      profiles: {
        type: 'boolean',
        description: 'whether an operator may take profiles; a heap snapshot holds keys and prompts',
        default: false,
      },
    },
  },
} as const;

export interface LiveSettings {
  readonly access: AccessMode;
  /** True if an operator may take profiles of the process. */
  readonly profiles: boolean;
}

interface CheckedConfig {
  readonly log: { readonly access: AccessMode };
  readonly diagnosis: { readonly profiles: boolean };
}

/** Reads the settings from a value that the schema has accepted. */
export function liveSettings(value: unknown): LiveSettings {
  const { log, diagnosis } = value as CheckedConfig;
  return { access: log.access, profiles: diagnosis.profiles };
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
