const QUOTE = 0x22;
/** Longer than the name of a member, with the space and the quote behind it. */
const OVERLAP_BYTES = 64;

/** Counts the images in a JSON answer that is too long to be held. */
export interface ImageCounter {
  take(piece: Buffer): void;
  /** The images that are complete. */
  count(): number;
}

/**
 * An image has a text under one of these quoted names, or under several: the name that occurs most counts. Neither base64
 * nor a URL has a quote within.
 */
export function countImagesInPieces(quotedNames: readonly Buffer[]): ImageCounter {
  const begins = new RegExp(`(${quotedNames.map((name) => name.toString()).join('|')})\\s*:\\s*"(?=[^"])`, 'g');
  const images = new Map<string, number>();
  let within: string | undefined;
  let overlap = '';
  /** Returns the position after the beginning of the next image, or the end of the piece if there is none. */
  const findBegin = (piece: Buffer, from: number): number => {
    const text = overlap + piece.toString('latin1', from);
    begins.lastIndex = 0;
    within = begins.exec(text)?.[1];
    const position = from + begins.lastIndex - overlap.length;
    overlap = within === undefined ? text.slice(-OVERLAP_BYTES) : '';
    return within === undefined ? piece.length : position;
  };
  const findEnd = (piece: Buffer, from: number, name: string): number => {
    const quote = piece.indexOf(QUOTE, from);
    if (quote < 0) return piece.length;
    images.set(name, (images.get(name) ?? 0) + 1);
    within = undefined;
    return quote + 1;
  };
  return {
    take: (piece) => {
      for (let at = 0; at < piece.length;)
        at = within === undefined ? findBegin(piece, at) : findEnd(piece, at, within);
    },
    count: () => Math.max(0, ...images.values()),
  };
}
