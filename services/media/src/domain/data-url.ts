const HEADER_CHARACTERS_MAX = 256;
/** Searched for, not matched against the whole: a match of many million characters overflows the stack of the engine. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const PADDING = /={1,2}$/;

export type ParsedDataUrl = { readonly declaredType: string; readonly base64: string } | { readonly fault: string };

export function isDataUrl(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}

/** Reads `data:image/png;base64,…`. White space within the base64 is let pass, as browsers do; nothing else is. */
export function parseDataUrl(text: string): ParsedDataUrl {
  const comma = text.slice(0, HEADER_CHARACTERS_MAX).indexOf(',');
  const [declaredType = '', ...parameters] = text
    .slice('data:'.length, Math.max(comma, 0))
    .split(';')
    .map((part) => part.trim().toLowerCase());
  if (comma < 0 || declaredType === '' || parameters.at(-1) !== 'base64')
    return { fault: 'must be a data URL of the form data:image/png;base64,… with the type of its bytes' };
  const base64 = text.slice(comma + 1).replace(/[\t\n\f\r ]+/g, '');
  if (base64 === '') return { fault: 'must be a data URL that holds something' };
  if (NOT_BASE64.test(base64.replace(PADDING, '')) || !isWholeBase64(base64))
    return { fault: 'must be a data URL with valid base64 after the comma' };
  return { declaredType, base64 };
}

/** Padding may be left out, but what is there must be right. */
function isWholeBase64(base64: string): boolean {
  return base64.endsWith('=') ? base64.length % 4 === 0 : base64.length % 4 !== 1;
}

/** How many bytes so much base64 holds. */
export function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='));
  return Math.floor(((base64.length - padding) * 3) / 4);
}
