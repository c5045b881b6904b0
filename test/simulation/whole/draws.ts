import type { Random } from '@reelgate/platform/ids';
import { seeded } from '../../harness/seeded.ts';

/**
 * The choices of one seed. Each has a name such as `crash 3`, and follows from the seed and the name alone, so that a
 * choice that is added or removed leaves all others as they are. The first word of a name is its concern.
 */
export interface Draws {
  readonly seed: number;
  /** From 0 to 1, exclusive. */
  chance(name: string): number;
  happens(name: string, probability: number): boolean;
  /** A whole number from `least` to `most`, both possible. */
  whole(name: string, least: number, most: number): number;
  pick<T>(name: string, from: readonly T[]): T;
  /** A source of random bytes of its own. */
  bytes(name: string): Random;
}

export function openDraws(seed: number): Draws {
  const chance = (name: string): number => hash(`${seed} ${name}`) / 2 ** 32;
  const whole = (name: string, least: number, most: number): number =>
    least + Math.floor(chance(name) * (most - least + 1));
  return {
    seed,
    chance,
    whole,
    happens: (name, probability) => chance(name) < probability,
    pick: <T>(name: string, from: readonly T[]): T => from[whole(name, 0, from.length - 1)]!,
    bytes: (name) => {
      const stream = seeded(hash(`${seed} ${name}`));
      return (bytes) => {
        for (let at = 0; at < bytes.length; at += 1) bytes[at] = stream.whole(0, 255);
      };
    },
  };
}

/** FNV-1a over the text, then the finalizer of MurmurHash3, which spreads texts that differ in their last letter. */
function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
