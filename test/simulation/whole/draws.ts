import type { Random } from '@reelgate/platform/ids';

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
  /** A source of random bytes. Each read of it has a name of its own from `nameRead`. */
  bytes(nameRead: () => string): Random;
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
    bytes: (nameRead) => (bytes) => {
      const name = nameRead();
      let word = 0;
      for (let at = 0; at < bytes.length; at += 1) {
        // the number of the word stands first, so that two names that collide in one word differ in the others
        if (at % WORD_BYTES === 0) word = hash(`${at} ${seed} ${name}`);
        bytes[at] = word >>> (8 * (at % WORD_BYTES));
      }
    },
  };
}

/** Returns a function that adds to a name how often it was asked for. */
export function newNameCounter(): (name: string) => string {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return `${name} ${count}`;
  };
}

const WORD_BYTES = 4;

/** FNV-1a over the text, then the finalizer of MurmurHash3, which spreads texts that differ in their last letter. */
function hash(text: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) mixed = Math.imul(mixed ^ text.charCodeAt(at), 0x01000193);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
