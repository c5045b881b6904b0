import type { Problem } from '@reelgate/platform/problem';
import { MediaKind } from '@reelgate/proto/tasks/v1/order';
import { refuse } from '../../refusals.ts';

/**
 * The head, such as `data:image/png;base64,`. The type may be absent. The base64 after it is checked while it is stored.
 */
const DATA_URL_HEAD = /^data:((?:[a-z]+\/[a-z0-9.+-]+)?)((?:;[a-z0-9-]+=[^;,"]*)*);base64,/i;
const HEAD_CHARACTERS_MAX = 256;

/**
 * Types that do not describe the bytes. The parser of forms assumes `text/plain` for a part without a type, as Python's
 * `requests` sends it.
 */
const UNSPECIFIC_TYPES: ReadonlySet<string> = new Set(['application/octet-stream', 'text/plain']);

const FAMILIES: Readonly<Partial<Record<MediaKind, { readonly family: string; readonly example: string }>>> = {
  [MediaKind.IMAGE]: { family: 'image', example: 'image/png' },
  [MediaKind.VIDEO]: { family: 'video', example: 'video/mp4' },
  [MediaKind.AUDIO]: { family: 'audio', example: 'audio/wav' },
};

/** The bytes of a data URL, still as text. */
export interface DataUrl {
  readonly declaredType: string;
  readonly base64: string;
}

/** Splits a data URL; undefined for any other URL. */
export function readDataUrl(url: string, kind: MediaKind, field: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const [head, declaredType = ''] = DATA_URL_HEAD.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined) throw invalidMedia(field, 'must be a data URL with base64, such as data:image/png;base64,…');
  return { declaredType: readDeclaredType(declaredType, kind, field), base64: url.slice(head.length) };
}

/** Longer than any link of this service, which has only these characters too. */
const BARE_CHARACTERS_MIN = 512;
const NOT_BARE = /[^A-Za-z0-9+/=\s]/;

/** Reports whether a text is base64 without the head of a data URL. */
export function isBareBase64(text: string): boolean {
  return text.length >= BARE_CHARACTERS_MIN && !NOT_BARE.test(text);
}

/**
 * Reads a declared type; empty if it does not describe the bytes. Refuses a type of another family. The media service
 * checks the bytes themselves.
 */
export function readDeclaredType(declared: string, kind: MediaKind, field: string): string {
  const declaredType = declared.toLowerCase();
  if (declaredType === '' || UNSPECIFIC_TYPES.has(declaredType)) return '';
  const { family, example } = FAMILIES[kind] ?? { family: '', example: '' };
  if (declaredType.startsWith(`${family}/`)) return declaredType;
  throw invalidMedia(
    field,
    `must have a media type of ${family}/…, such as ${example}; it declares ${JSON.stringify(declared.slice(0, 64))}`,
  );
}

export function invalidMedia(field: string, message: string): Problem {
  return refuse('invalid_media', { field, message });
}
