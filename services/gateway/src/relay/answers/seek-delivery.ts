/** The members that hold what is ordered, in whatever answer: a text, a link, bytes as text; a vector; a score. */
const TEXT =
  'content|text|reasoning|reasoning_content|thinking|refusal|arguments|transcript|data|result|url|b64_json|audio';
const VECTOR = 'embeddings?|vectors|float|base64';
const BEGINS = new RegExp(
  `"(?:${TEXT}|${VECTOR})"\\s*:\\s*"[^"]|"(?:${VECTOR})"\\s*:\\s*\\[[\\s[]*[-\\d]|score"\\s*:\\s*-?\\d`,
);
/** Longer than what is sought. */
const OVERLAP_BYTES = 64;

/** Seeks what was ordered in a JSON answer that is too long to be held, and so is not parsed. */
export interface DeliverySeeker {
  take(piece: Buffer): void;
  isFound(): boolean;
}

export function seekDelivery(): DeliverySeeker {
  let isFound = false;
  let overlap = '';
  return {
    take: (piece) => {
      if (isFound) return;
      const text = overlap + piece.toString('latin1');
      isFound = BEGINS.test(text);
      overlap = text.slice(-OVERLAP_BYTES);
    },
    isFound: () => isFound,
  };
}
