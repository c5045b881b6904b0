import type { Kind } from './order.ts';

/** The classes of tasks that wait, the best one first. */
export const QUEUE_CLASSES = ['interactive', 'standard', 'batch'] as const;

export type QueueClass = (typeof QUEUE_CLASSES)[number];

/** The tasks of a lane can be done by the same channels, which all members but the class decide. */
export interface Lane {
  readonly kind: Kind;
  readonly model: string;
  /** The only upstream accounts that can do it, sorted. Absent for any account. */
  readonly accounts?: readonly string[] | undefined;
  /** The channels that cannot do it although they serve its model, sorted. */
  readonly without: readonly string[];
  readonly class: QueueClass;
}

/** The lane of tasks that have no turn before a time. No channel serves it. */
export const SCHEDULED_LANE = 'scheduled';

/** The name of a lane, from which `readLane` reads it again. Equal lanes have equal names. */
export function nameLane({ kind, model, accounts, without, class: ofClass }: Lane): string {
  return JSON.stringify([kind, model, accounts ?? null, without, ofClass]);
}

/** Not for the name of the lane `scheduled`. */
export function readLane(name: string): Lane {
  const parts = JSON.parse(name) as [Kind, string, string[] | null, string[], QueueClass];
  const [kind, model, accounts, without, ofClass] = parts;
  return { kind, model, accounts: accounts ?? undefined, without, class: ofClass };
}

/** Reports whether a class goes before another one. */
export function isBetterClass(ofClass: QueueClass, than: QueueClass): boolean {
  return QUEUE_CLASSES.indexOf(ofClass) < QUEUE_CLASSES.indexOf(than);
}

/** The part of the turns that the lowest class gets whatever waits above it: one of this many. */
const LOWEST_CLASS_EVERY = 10;

/**
 * Orders the lanes of a model for the next turn: the better class first, but the lowest one at each tenth turn. Lanes of
 * one class take turns. `turns` counts those that were given.
 */
export function orderByClass(lanes: readonly string[], turns: number): readonly string[] {
  const byClass = QUEUE_CLASSES.map((ofClass) =>
    rotate(
      lanes.filter((lane) => readLane(lane).class === ofClass),
      turns,
    ),
  );
  return (turns % LOWEST_CLASS_EVERY === LOWEST_CLASS_EVERY - 1 ? byClass.toReversed() : byClass).flat();
}

function rotate(lanes: readonly string[], by: number): readonly string[] {
  const first = lanes.length === 0 ? 0 : by % lanes.length;
  return [...lanes.slice(first), ...lanes.slice(0, first)];
}
