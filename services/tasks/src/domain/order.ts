export type Kind = 'generation' | 'regeneration' | 'context_ir';
export type MediaKind = 'image' | 'video' | 'audio';
export type Role =
  'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio' | 'base_video';

export interface TextItem {
  readonly text: string;
}

/** A medium as the client named it: by a reference, or by the stored object that its bytes were put into. */
export interface MediaItem {
  readonly media: MediaKind;
  readonly role?: Role | undefined;
  readonly url?: string | undefined;
  readonly object?: string | undefined;
  readonly declaredType?: string | undefined;
}

export type ContentItem = TextItem | MediaItem;

/** What a caller asked for, in no dialect; frozen for the task's life. */
export interface Order {
  readonly kind: Kind;
  readonly model: string;
  readonly content: readonly ContentItem[];
  readonly duration?: number | undefined;
  readonly resolution?: string | undefined;
  readonly ratio?: string | undefined;
  /** Regeneration mode A. */
  readonly sourceTaskId?: string | undefined;
  readonly aigcWatermark?: boolean | undefined;
  readonly callbackUrl?: string | undefined;
  /** As the client wrote it; decides nothing. */
  readonly size?: string | undefined;
  /** Fields that this service does not know, as a JSON object, for a channel that does. */
  readonly extraJson?: string | undefined;
}

export function isMedia(item: ContentItem): item is MediaItem {
  return 'media' in item;
}

export function mediaOf(order: Order): readonly MediaItem[] {
  return order.content.filter(isMedia);
}

/** What a medium is for; a single image without a role is the first frame. */
export function roleOf(item: MediaItem): Role | undefined {
  return item.role ?? (item.media === 'image' ? 'first_frame' : undefined);
}

/** A reference to a file of an upstream account, which no other party can read. */
export function isUpstreamFile(item: MediaItem): boolean {
  return /^(asset|mm_file):\/\/[\w.-]{1,256}$/.test(item.url ?? '');
}
