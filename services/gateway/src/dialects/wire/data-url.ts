import { Problem } from '@reelgate/platform/problem';
import { MediaKind } from '@reelgate/proto/tasks/v1/order';

/** `data:image/png;base64,`; what follows is checked while it is stored. */
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

/** Takes a data URL apart; undefined for an address of any other kind. */
export function readDataUrl(url: string, kind: MediaKind, field: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const [head, declaredType = ''] = DATA_URL_HEAD.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined)
    throw invalidMedia(field, 'must be a data URL with a media type and base64, such as data:image/png;base64,…');
  assertDeclared(declaredType, kind, field);
  return { declaredType: declaredType.toLowerCase(), base64: url.slice(head.length) };
}

/** Longer than any address of ours, which have no other characters either. */
const BARE_CHARACTERS_MIN = 512;
const NOT_BARE = /[^A-Za-z0-9+/=\s]/;

/** Whether it is the bytes alone, in base64, without the head of a data URL. */
export function isBareBase64(text: string): boolean {
  return text.length >= BARE_CHARACTERS_MIN && !NOT_BARE.test(text);
}

/** Refuses a declared type of another family; the bytes themselves are looked at where media are kept. */
export function assertDeclared(declaredType: string, kind: MediaKind, field: string): void {
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
