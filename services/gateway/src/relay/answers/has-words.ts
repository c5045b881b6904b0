/** Fewer bytes can be the beginning of anything. */
const BYTES_MIN = 5;
/** Every text is without the characters that control a terminal, and hardly a sound begins without them. */
const CONTROLS = /[\0-\b\u000e-\u001f\u007f]/;

/** Reports whether bytes are words: the beginning of a text, or all of it. */
export function hasWords(bytes: Buffer): boolean {
  if (bytes.length < BYTES_MIN) return false;
  try {
    // the last character can be cut
    return !CONTROLS.test(new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }));
  } catch {
    return false;
  }
}
