const HEADER_CHARACTERS_MAX = 256;
/** The text is searched, because a match against many million characters overflows the stack of the engine. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const PADDING = /={1,2}$/;

export type ParsedDataUrl = { readonly declaredType: string; readonly base64: string } | { readonly fault: string };

export function isDataUrl(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}

/**
 * Reads `data:image/png;base64,…`. Like browsers, it allows white space in the base64, and no other character outside
 * the alphabet. The type may be absent.
 */
export function parseDataUrl(text: string): ParsedDataUrl {
  const comma = text.slice(0, HEADER_CHARACTERS_MAX).indexOf(',');
  const [declaredType = '', ...parameters] = text
    .slice('data:'.length, Math.max(comma, 0))
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (comma < 0 || parameters.at(-1) !== 'base64')
    return { fault: 'must be a data URL with base64, such as data:image/png;base64,…' };
  const base64 = text.slice(comma + 1).replace(/[\t\n\f\r ]+/g, '');
  if (base64 === '') return { fault: 'must be a data URL with at least one byte' };
  if (NOT_BASE64.test(base64.replace(PADDING, '')) || !isWholeBase64(base64))
    return { fault: 'must be a data URL with valid base64 after the comma' };
  return { declaredType, base64 };
}

/** Padding is optional, but padding that is there must be complete. */
function isWholeBase64(base64: string): boolean {
  return base64.endsWith('=') ? base64.length % 4 === 0 : base64.length % 4 !== 1;
}

/** The number of bytes that a base64 text holds. */
export function countDecodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
  return Math.floor(((base64.length - padding) * 3) / 4);
}
