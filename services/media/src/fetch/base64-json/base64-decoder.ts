const CHARACTERS_IN_GROUP = 4;
const PADDING = '=';

/** Decodes a Base64 text that arrives in pieces. It holds three characters at most. */
export interface Base64Decoder {
  /** Returns the bytes of all whole groups so far; undefined: the text is not Base64. */
  take(piece: Buffer): Buffer | undefined;
  /** Reports whether the text can end here. */
  canEnd(): boolean;
}

/**
 * It accepts what an encoder writes: the standard alphabet, whole groups, no space, no bits that mean nothing. Nothing
 * follows the padding.
 */
export function openBase64Decoder(): Base64Decoder {
  let left = '';
  let isPadded = false;
  return {
    take: (piece) => {
      if (piece.length === 0) return piece;
      if (isPadded) return undefined;
      const text = left + piece.toString('latin1');
      const whole = text.slice(0, text.length - (text.length % CHARACTERS_IN_GROUP));
      left = text.slice(whole.length);
      isPadded = whole.endsWith(PADDING);
      const bytes = Buffer.from(whole, 'base64');
      // the decoder of Node skips what it does not know, so the bytes must give the same text again
      return bytes.toString('base64') === whole && (!isPadded || left === '') ? bytes : undefined;
    },
    canEnd: () => left === '',
  };
}
