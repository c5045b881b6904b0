import { parseDuration } from '@reelgate/platform/config/units';
import type { DrainTimes } from '@reelgate/platform/lifecycle/drain';
import type { DrainEntry } from '@reelgate/platform/config/drain-keys';

/** Other replicas take the calls of a service that runs apart, as soon as they know that it stops. */
const APART_LEAD_MS = 5000;
/** A create takes longer than its submission: the money is held before, the outcome is stored after. */
const SUBMIT_MARGIN_MS = 15_000;
const SUBMIT_MS = 60_000;

const DRAINED = ['gateway', 'tasks', 'billing', 'media'] as const;

export type Drains = Readonly<Record<(typeof DRAINED)[number], DrainSettings>>;

interface DrainSettings {
  /** Undefined: it depends on where the service runs. */
  readonly leadMs: number | undefined;
  readonly timeoutMs: number;
}

type DrainConfig = Readonly<Record<keyof Drains, { readonly drain: DrainEntry }>> & {
  readonly channels: readonly { readonly timeouts?: { readonly submit?: string } }[];
};

export function readDrains(config: DrainConfig): Drains {
  const submits = config.channels.map(({ timeouts }) => parseDuration(timeouts?.submit ?? '') ?? SUBMIT_MS);
  const longest = Math.max(SUBMIT_MS, ...submits) + SUBMIT_MARGIN_MS;
  const readSettings = ({ lead, timeout }: DrainEntry): DrainSettings => ({
    leadMs: lead === undefined ? undefined : parseDuration(lead),
    timeoutMs: parseDuration(timeout ?? '') ?? longest,
  });
  return Object.fromEntries(DRAINED.map((name) => [name, readSettings(config[name].drain)])) as Drains;
}

/** `isApart`: the service runs in a process of its own. */
export function drainTimes({ leadMs, timeoutMs }: DrainSettings, isApart: boolean): DrainTimes {
  return { leadMs: leadMs ?? (isApart ? APART_LEAD_MS : 0), timeoutMs };
}
