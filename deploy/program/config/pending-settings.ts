import { isDeepStrictEqual } from 'node:util';
import { LIVE_KEYS } from './live-settings.ts';
import { SERVICE_NAMES } from './program-config.ts';
import type { ServiceName } from './program-config.ts';

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
 * the named service reads them. Undefined: one program with all services.
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
