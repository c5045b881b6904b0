import { Problem } from '@reelgate/platform/problem';
import { MediaKind } from '@reelgate/proto/tasks/v1/order';

/** The head, such as `data:image/png;base64,`. The base64 after it is checked while it is stored. */
const DATA_URL_HEAD = /^data:([a-z]+\/[a-z0-9.+-]+)((?:;[a-z0-9-]+=[^;,"]*)*);base64,/i;
const HEAD_CHARACTERS_MAX = 256;

const FAMILIES: Readonly<Partial<Record<MediaKind, string>>> = {
  [MediaKind.IMAGE]: 'image',
  [MediaKind.VIDEO]: 'video',
  [MediaKind.AUDIO]: 'audio',
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
  if (head === undefined)
    throw invalidMedia(field, 'must be a data URL with a media type and base64, such as data:image/png;base64,…');
  assertDeclaredFamily(declaredType, kind, field);
  return { declaredType: declaredType.toLowerCase(), base64: url.slice(head.length) };
}

/** Longer than any link of this service, which has only these characters too. */
const BARE_CHARACTERS_MIN = 512;
const NOT_BARE = /[^A-Za-z0-9+/=\s]/;

/** Reports whether a text is base64 without the head of a data URL. */
export function isBareBase64(text: string): boolean {
  return text.length >= BARE_CHARACTERS_MIN && !NOT_BARE.test(text);
}

/** Refuses a declared type of another family. The media service checks the bytes themselves. */
export function assertDeclaredFamily(declaredType: string, kind: MediaKind, field: string): void {
  const family = FAMILIES[kind] ?? '';
  if (!declaredType.toLowerCase().startsWith(`${family}/`))
    throw invalidMedia(
      field,
      `must have a media type of ${family}/…; it declares ${JSON.stringify(declaredType.slice(0, 64))}`,
    );
}

export function invalidMedia(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_media', field, message });
}
