import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { MediaKind, MediaRole } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, MediaItem } from '@reelgate/proto/tasks/v1/order';
import type { InlineMedia } from '../dialect.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Schema, TypeOf } from '../../domain/schema.ts';
import { invalid } from './body-validator.ts';
import type { Problem } from '@reelgate/platform/problem';
import { refuse } from '../../refusals.ts';

/** A limit on the size of the array. The tasks service checks how many items of each role an order may have. */
const ITEMS_MAX = 100;

const KINDS = { image_url: MediaKind.IMAGE, video_url: MediaKind.VIDEO, audio_url: MediaKind.AUDIO } as const;
type MediaType = keyof typeof KINDS;

const ROLES = deriveValues(MediaRole);
export type Role = keyof typeof ROLES;

/** Returns the type of a media item as a client writes it. */
export function toItemType(kind: MediaKind | undefined): string {
  return Object.entries(KINDS).find(([, known]) => known === kind)?.[0] ?? 'media';
}

/** A content item of an order, with its field in the body and its inline bytes. */
export interface DecodedItem {
  readonly item: ContentItem;
  readonly field: string;
  readonly inline?: Omit<InlineMedia, 'item'>;
}

export const URL_OBJECT = objectSchema({
  url: {
    type: 'string',
    minLength: 1,
    description: 'A public http(s) URL, a data URL, or the link of a result of this service.',
  },
});

/** The schema of a media item: its type names the member that has its URL. */
type MediaItemSchema<T extends MediaType, R extends Role> = {
  readonly title: string;
  readonly type: 'object';
  readonly required: readonly ('type' | T)[];
  readonly additionalProperties: false;
  readonly properties: { readonly type: { readonly const: T }; readonly role: { readonly enum: readonly R[] } } & {
    readonly [M in T]: typeof URL_OBJECT;
  };
};

/** Builds the schema of a text item of at most `maxLength` characters. */
export function textItemSchema(title: string, maxLength: number): Schema {
  return {
    title,
    type: 'object',
    required: ['type', 'text'],
    additionalProperties: false,
    properties: { type: { const: 'text' }, text: { type: 'string', maxLength, description: 'Text for the model.' } },
  };
}

/** Builds the schema of a media item with one of these roles. */
export function mediaItemSchema<T extends MediaType, const R extends Role>(
  type: T,
  title: string,
  roles: readonly R[],
): MediaItemSchema<T, R> {
  const properties = { type: { const: type }, role: { enum: roles }, [type]: URL_OBJECT };
  return {
    title,
    type: 'object',
    required: ['type', type],
    additionalProperties: false,
    properties: properties as MediaItemSchema<T, R>['properties'],
  };
}

const contentItem = {
  title: 'ContentItem',
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [
    objectSchema({ type: { const: 'text' }, text: { type: 'string' } }),
    mediaItemSchema('image_url', 'ImageItem', ['first_frame', 'last_frame', 'reference_image']),
    mediaItemSchema('video_url', 'VideoItem', ['reference_video', 'base_video']),
    mediaItemSchema('audio_url', 'AudioItem', ['reference_audio']),
  ],
} as const satisfies Schema;

/** A content item that has passed the schema. */
export type WireItem = TypeOf<typeof contentItem>;

/** The names and types of the content array. The tasks service checks all other rules. */
export const contentSchema = {
  type: 'array',
  maxItems: ITEMS_MAX,
  items: contentItem,
  description: 'Text and media for the model.',
} as const satisfies Schema;

/** Reads the items of a list. `list` is its name in the body. */
export function readContent(items: readonly WireItem[], list = 'content'): DecodedItem[] {
  return items.map((item, index) => {
    const field = `${list}[${index}]`;
    return item.type === 'text'
      ? readText(item.text, field, `${field}.text`)
      : readMedia({
          kind: KINDS[item.type],
          role: item.role,
          url: readUrl(item),
          field,
          urlField: `${field}.${item.type}.url`,
        });
  });
}

/** A text item. Refuses an unpaired surrogate, which could not be stored unchanged. */
export function readText(text: string, field: string, textField = field): DecodedItem {
  if (!text.isWellFormed()) throw invalid(textField, 'must be well-formed Unicode', 'invalid_content');
  return { item: toContentItem({ case: 'text', value: text }), field };
}

interface MediaReference {
  readonly kind: MediaKind;
  readonly role: Role | undefined;
  readonly url: string;
  readonly field: string;
  /** The field of the URL itself, if it is nested deeper. */
  readonly urlField?: string;
  /** True if base64 without the head of a data URL is accepted. */
  readonly bare?: boolean;
}

/** A media item from a URL or from the bytes of a data URL. */
export function readMedia({ kind, role, url, field, urlField = field, bare = false }: MediaReference): DecodedItem {
  const data = bare && isBareBase64(url) ? { declaredType: '', base64: url } : readDataUrl(url, kind, urlField);
  if (data === undefined) return { item: toWireMedia(kind, role, { url }), field };
  const { declaredType, base64 } = data;
  return {
    item: toWireMedia(kind, role, { declaredType }),
    field,
    inline: { field: urlField, declaredType, bytes: { base64 } },
  };
}

export function toWireMedia(
  kind: MediaKind,
  role: Role | undefined,
  source: { readonly url?: string; readonly declaredType?: string },
): ContentItem {
  const { url = '', declaredType = '' } = source;
  const value = {
    $typeName: 'reelgate.tasks.v1.MediaItem',
    kind,
    role: role === undefined ? MediaRole.UNSPECIFIED : ROLES[role],
    url,
    object: '',
    declaredType,
  } satisfies EveryField<MediaItem>;
  return toContentItem({ case: 'media', value });
}

function toContentItem(item: ContentItem['item']): ContentItem {
  return { $typeName: 'reelgate.tasks.v1.ContentItem', item } satisfies EveryField<ContentItem>;
}

/** Reports whether an item has this role. */
export function hasRole(item: WireItem, role: Role): boolean {
  return item.type !== 'text' && item.role === role;
}

function readUrl(item: Exclude<WireItem, { type: 'text' }>): string {
  if (item.type === 'image_url') return item.image_url.url;
  return item.type === 'video_url' ? item.video_url.url : item.audio_url.url;
}

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
interface DataUrl {
  readonly declaredType: string;
  readonly base64: string;
}

/** Splits a data URL; undefined for any other URL. */
function readDataUrl(url: string, kind: MediaKind, field: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const [head, declaredType = ''] = DATA_URL_HEAD.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined) throw invalidMedia(field, 'must be a data URL with base64, such as data:image/png;base64,…');
  return { declaredType: readDeclaredType(declaredType, kind, field), base64: url.slice(head.length) };
}

/** Longer than any link of this service, which has only these characters too. */
const BARE_CHARACTERS_MIN = 512;
const NOT_BARE = /[^A-Za-z0-9+/=\s]/;

/** Reports whether a text is base64 without the head of a data URL. */
function isBareBase64(text: string): boolean {
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
