import type { Random } from '@reelgate/platform/ids';

/** A number from 0 to 1, exclusive, from the injected source. */
export function chanceFrom(random: Random): () => number {
  const word = new Uint32Array(1);
  const bytes = new Uint8Array(word.buffer);
  return () => {
    random(bytes);
    return (word[0] ?? 0) / 2 ** 32;
  };
}
