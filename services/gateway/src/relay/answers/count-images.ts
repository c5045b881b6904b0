const QUOTE = 0x22;
/** Longer than the name of a member, with the space and the quote behind it. */
const OVERLAP_BYTES = 64;

/** Counts the images in a JSON answer that is too long to be held. */
export interface ImageCounter {
  take(piece: Buffer): void;
  /** The images that are complete. */
  count(): number;
}

/** Each text under one of these quoted names is an image. Neither base64 nor a URL has a quote within. */
export function countImagesInPieces(quotedNames: readonly Buffer[]): ImageCounter {
  const begins = new RegExp(`(?:${quotedNames.map((name) => name.toString()).join('|')})\\s*:\\s*"(?=[^"])`, 'g');
  let images = 0;
  let isWithin = false;
  let overlap = '';
  /** Returns the position behind the beginning of the next image; the end of the piece if there is none. */
  const findBegin = (piece: Buffer, from: number): number => {
    const text = overlap + piece.toString('latin1', from);
    begins.lastIndex = 0;
    isWithin = begins.test(text);
    const position = from + begins.lastIndex - overlap.length;
    overlap = isWithin ? '' : text.slice(-OVERLAP_BYTES);
    return isWithin ? position : piece.length;
  };
  const findEnd = (piece: Buffer, from: number): number => {
    const quote = piece.indexOf(QUOTE, from);
    if (quote < 0) return piece.length;
    images += 1;
    isWithin = false;
    return quote + 1;
  };
  return {
    take: (piece) => {
      for (let at = 0; at < piece.length;) at = isWithin ? findEnd(piece, at) : findBegin(piece, at);
    },
    count: () => images,
  };
}
