import type { Draws } from './draws.ts';

/** Every fault that a seed can have. */
export const FAULTS = [
  'late timers',
  'crash',
  'aimed crash',
  'crash at start',
  'power cut',
  'slow sync',
  'failed sync',
  'full disk',
  'full disk at a write',
  'uncertain commit',
  'scattered pages',
  'cut checkpoint',
  'refused connection',
  'reset before the request',
  'reset after the request',
  'no answer',
  'bad gateway after the request',
  'throttle',
  'content refusal',
  'page instead of JSON',
  'unknown state',
  'success without URL',
  'lost work',
  'late knowledge',
  'failing work',
  'slow media',
  'media away',
  'full media disk',
  'unreadable media',
  'client leaves',
  'lost commit',
  'server away',
  'lost bus answer',
  'lost announcement',
  'late announcement',
  'doubled announcement',
  'frozen process',
  'clock jump',
  'broken stream',
  'callbacks',
  'receiver hangs',
  'receiver loses answers',
  'receiver fails',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Of the seeds, this part has no fault at all, so that bounds on time hold. */
const CALM_SEEDS = 0.15;
/** In the other seeds, each fault is on with this probability. */
const FAULT_ON = 0.7;

/** The faults of one seed. Each is on or off for the whole seed, so that seeds differ in kind. */
export interface Faults {
  readonly isCalm: boolean;
  readonly listOn: () => readonly Fault[];
  /** Reports whether the fault is on, and no end has been put to all faults. */
  isOn(fault: Fault): boolean;
  /** Draws whether the fault happens at this place. */
  happens(fault: Fault, name: string, probability: number): boolean;
  /** A fault that is planned for a time has happened. */
  note(fault: Fault, name: string): void;
  /** The places at which the fault has happened. */
  listPlaces(fault: Fault): readonly string[];
  /** Reports whether the run does without the fault, the place of a fault, the crash or the order of this name. */
  isLeftOut(name: string): boolean;
  /** From now on nothing new goes wrong. */
  end(): void;
}

export function openFaults(draws: Draws, without: ReadonlySet<string> = new Set()): Faults {
  const isCalm = draws.happens('fault none', CALM_SEEDS);
  const on = new Set(
    FAULTS.filter((fault) => !isCalm && !without.has(fault) && draws.happens(`fault ${fault}`, FAULT_ON)),
  );
  const places = new Map<Fault, string[]>();
  let hasEnded = false;
  const isOn = (fault: Fault): boolean => !hasEnded && on.has(fault);
  const note = (fault: Fault, name: string): void => {
    places.set(fault, [...(places.get(fault) ?? []), name]);
  };
  return {
    isCalm,
    listOn: () => [...on],
    isOn,
    note,
    happens: (fault, name, probability) => {
      if (!isOn(fault) || without.has(name) || !draws.happens(`${fault} ${name}`, probability)) return false;
      note(fault, name);
      return true;
    },
    listPlaces: (fault) => places.get(fault) ?? [],
    isLeftOut: (name) => without.has(name),
    end: () => {
      hasEnded = true;
    },
  };
}
