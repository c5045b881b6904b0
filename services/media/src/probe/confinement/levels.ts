/**
 * The levels of isolation of parsers, the strongest first. Each level includes the ones after it.
 *
 * - `namespaces` is a user namespace, and a network without a way out.
 * - `landlock` opens only the named files, allows no socket, and hides other processes.
 * - `process` is a process of its own with limits of time and memory and an empty environment. A parser that runs code
 *   of its file can read whatever the user of media can read.
 */
export const CONFINEMENT_LEVELS = ['namespaces', 'landlock', 'process'] as const;
export type ConfinementLevel = (typeof CONFINEMENT_LEVELS)[number];

export function isWeaker(level: ConfinementLevel, least: ConfinementLevel): boolean {
  return CONFINEMENT_LEVELS.indexOf(level) > CONFINEMENT_LEVELS.indexOf(least);
}
