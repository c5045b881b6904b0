import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { MediaKind as WireMediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';

export type Kind = EnumWord<typeof TaskKind>;
export type MediaKind = EnumWord<typeof WireMediaKind>;
export type Role = EnumWord<typeof MediaRole>;

export interface TextItem {
  readonly text: string;
}

/** A media item: a reference as the client wrote it, or the stored object that holds the client's inline bytes. */
export interface MediaItem {
  readonly media: MediaKind;
  readonly role?: Role | undefined;
  readonly url?: string | undefined;
  readonly object?: string | undefined;
  readonly declaredType?: string | undefined;
}

export type ContentItem = TextItem | MediaItem;

/** The work that a caller asked for, independent of dialect and frozen for the life of the task. */
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
  /** As the client wrote it. No rule reads it. */
  readonly size?: string | undefined;
  /** Fields that this service does not know, as a JSON object, for a channel that knows them. */
  readonly extraJson?: string | undefined;
  /** The extra fields that may be left out. Those of a task that are not in `extraJson` were left out. */
  readonly optionalExtra?: readonly string[] | undefined;
}

export function isMedia(item: ContentItem): item is MediaItem {
  return 'media' in item;
}

export function listMedia(order: Order): readonly MediaItem[] {
  return order.content.filter(isMedia);
}

/** The role of a media item. An image without a role is the first frame. */
export function resolveRole(item: MediaItem): Role | undefined {
  return item.role ?? (item.media === 'image' ? 'first_frame' : undefined);
}

/** Reports whether an item refers to a file of an upstream account, which only that upstream can read. */
export function isUpstreamFile(item: MediaItem): boolean {
  return /^(asset|mm_file):\/\/[\w.-]{1,256}$/.test(item.url ?? '');
}
