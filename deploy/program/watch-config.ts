import { isDeepStrictEqual } from 'node:util';
import { isRecent } from '@reelgate/platform/clock';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { ServiceName } from './config/program-config.ts';
import type { ReadConfig } from './config/read-config.ts';
import type { FoundationWithoutBus } from './open-foundation.ts';
import { LIVE_KEYS } from './config/live-settings.ts';
import { SERVICE_NAMES } from './config/program-config.ts';

/** A mounted folder is replaced by a new link, which a watch of the file system can miss. So the files are polled. */
export const WATCH_MS = 500;
/** After a refusal. What was missing may be no file of the configuration, so no change would announce it. */
export const RETRY_MS = 5000;

interface Reloadable {
  reload(config: unknown): Promise<void>;
}

export interface WatchOptions {
  /** The configuration that the process was started with. */
  readonly started: ReadConfig;
  /** The service of this process, undefined for one program with all services. */
  readonly service: ServiceName | undefined;
  /** Throws a ConfigError, or rejects with one. */
  readonly read: () => ReadConfig | Promise<ReadConfig>;
  /** In the order in which they receive a new configuration. */
  readonly services: readonly Reloadable[];
}

/** The reason why the newest files are not in use, and the settings of the files in use that wait for a start. */
export interface ConfigState {
  readonly refused: string | undefined;
  readonly pending: readonly string[];
  /** The checked value that was last applied. */
  readonly value: unknown;
  /** The time at which it was applied, in milliseconds since 1970. */
  readonly appliedAt: number;
}

export interface ConfigWatch {
  state(): ConfigState;
  /** Reads the configuration again immediately, even if it has not changed. */
  reload(): void;
  stop(): Promise<void>;
}

/**
 * Follows the files of the configuration. A change is applied when the files have not changed for one more interval, so
 * that a file is not read while it is being written. A configuration is applied as a whole or not at all.
 */
export function watchConfig(options: WatchOptions, foundation: FoundationWithoutBus): ConfigWatch {
  const { clock, log } = foundation;
  const measures = reloadMeasures(foundation);
  let { file, value } = options.started.config;
  let appliedAt = clock.now();
  let isForced = false;
  let settling = '';
  let pending: readonly string[] = [];
  let refused: { readonly at: number; readonly reason: string } | undefined;
  measures.succeeded();

  const isDue = (): boolean => {
    if (refused !== undefined) return !isRecent(clock, refused.at, RETRY_MS);
    const now = file.versionNow();
    const hasSettled = now === settling;
    settling = now;
    return now !== file.version && hasSettled;
  };
  const attempt = async (asked: boolean): Promise<void> => {
    try {
      ({ file, value, pending } = await apply(options, foundation));
      appliedAt = clock.now();
      refused = undefined;
      measures.succeeded();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (asked || reason !== refused?.reason)
        log.error({ reason }, 'the new configuration was refused; the old one stays');
      refused = { at: clock.now(), reason };
      measures.failed();
    }
  };
  const worker = startWorker({
    name: 'configuration',
    clock,
    log,
    idleMs: WATCH_MS,
    pass: async () => {
      const asked = isForced;
      isForced = false;
      if (asked || isDue()) await attempt(asked);
      return 0;
    },
  });
  return {
    state: () => ({ refused: refused?.reason, pending, value, appliedAt }),
    reload: () => {
      isForced = true;
      worker.wake();
    },
    stop: () => worker.stop(),
  };
}

/** Returns the files that are in use from now on, and the changed settings that wait for a start. */
async function apply(
  { started, service, read, services }: WatchOptions,
  { log }: FoundationWithoutBus,
): Promise<{ readonly file: ConfigFile; readonly value: unknown; readonly pending: readonly string[] }> {
  const { config, warnings } = await read();
  for (const warning of warnings) log.warn({ warning }, 'a setting of the configuration has no effect');
  for (const running of services) await running.reload(config.value);
  log.warn({}, 'the configuration was read again');
  const pending = pendingSettings(started.config.value, config.value, service);
  if (pending.length > 0) log.warn({ settings: pending }, 'changed settings take effect at the next start');
  return { file: config.file, value: config.value, pending };
}

function reloadMeasures({ clock, metrics }: FoundationWithoutBus) {
  const success = metrics.gauge(
    'reelgate_config_reload_success',
    'Whether the configuration of the files is in use: 1, or 0 after a refusal',
  );
  const timestamp = metrics.gauge(
    'reelgate_config_reload_timestamp_seconds',
    'When a configuration was last applied, in seconds since 1970',
  );
  return {
    succeeded: () => {
      success.labels().set(1);
      timestamp.labels().set(Math.floor(clock.now() / 1000));
    },
    failed: () => success.labels().set(0),
  };
}

/** The keys that a reload applies. Everything else takes effect at the next start. */
export const RELOADED: readonly string[] = [
  'models',
  'adapters',
  'channels',
  'prices',
  'accounts',
  'operators',
  ...LIVE_KEYS,
];
/** The section of the gateway says where every service is called. */
const EVERY_PROCESS_READS = ['gateway', 'services'] as const;

type Section = Readonly<Record<string, unknown>>;

/**
 * The keys of the settings that differ from those of the start and that only a start applies, as far as the process of
 * the named service reads them. The name is undefined in one program with all services.
 */
export function pendingSettings(started: unknown, now: unknown, service: ServiceName | undefined): readonly string[] {
  return listChangedKeys(selectReadKeys(started, service), selectReadKeys(now, service), '');
}

function selectReadKeys(value: unknown, service: ServiceName | undefined): Section {
  const others = service === undefined ? [] : SERVICE_NAMES.filter((name) => name !== service);
  const [gateway, services] = EVERY_PROCESS_READS;
  const kept = Object.entries(value as Section).filter(
    ([key]) => !RELOADED.includes(key) && !(others as readonly string[]).includes(key),
  );
  const called = (value as Readonly<Record<string, Section | undefined>>)[gateway]?.[services];
  return { [gateway]: { [services]: called }, ...Object.fromEntries(kept) };
}

function listChangedKeys(before: unknown, after: unknown, at: string): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isSection(before) || !isSection(after)) return [at];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => listChangedKeys(before[key], after[key], at === '' ? key : `${at}.${key}`));
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
