import type { Fault, Rule } from '../fault.ts';
import { isMedia, listMedia, resolveRole } from '../order.ts';
import type { MediaKind, Order, Role } from '../order.ts';

/** The vendor's limits (vendor contract §2.2). */
const MEDIA_MAX = 12;
const COUNT_MAX: Readonly<Record<Role, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 9,
  reference_video: 3,
  reference_audio: 3,
  base_video: 1,
};
const MEDIA_OF: Readonly<Record<Role, MediaKind>> = {
  first_frame: 'image',
  last_frame: 'image',
  reference_image: 'image',
  reference_video: 'video',
  reference_audio: 'audio',
  base_video: 'video',
};
const FRAMES: readonly Role[] = ['first_frame', 'last_frame'];
const REFERENCES: readonly Role[] = ['reference_image', 'reference_video', 'reference_audio'];

/** The limits of content that differ between kinds of task. */
export interface ContentLimits {
  /** Of each text item. */
  readonly textCodePointsMax: number;
  readonly roles: readonly Role[];
}

/** The bounds that the rules below enforce, for clients that keep within them. */
export interface ContentBounds {
  /** Unicode code points of each text item. */
  readonly textMax: number;
  readonly mediaMax: number;
  readonly roles: readonly { readonly role: Role; readonly max: number }[];
  readonly framesExcludeReferences: boolean;
  /** A reference audio needs a reference image, a reference video or a base video. */
  readonly audioNeedsPicture: boolean;
}

export function describeContent({ textCodePointsMax, roles }: ContentLimits): ContentBounds {
  const hasAny = (some: readonly Role[]): boolean => some.some((role) => roles.includes(role));
  return {
    textMax: textCodePointsMax,
    mediaMax: MEDIA_MAX,
    roles: roles.map((role) => ({ role, max: COUNT_MAX[role] })),
    framesExcludeReferences: hasAny(FRAMES) && hasAny(REFERENCES),
    audioNeedsPicture: roles.includes('reference_audio'),
  };
}

/** The rules for content items that all kinds of task share. */
export function contentRules(limits: ContentLimits): readonly Rule<Order>[] {
  return [
    ({ content }) => (content.length === 0 ? invalid('content', 'must hold at least one item') : undefined),
    (order) => textFault(order, limits.textCodePointsMax),
    (order) => roleFault(order, limits.roles),
    addressFault,
    countFault,
    exclusionFault,
  ];
}

function textFault({ content }: Order, max: number): Fault | undefined {
  for (const [index, item] of content.entries()) {
    // a text has at most as many characters as UTF-16 code units
    const length = isMedia(item) || item.text.length <= max ? 0 : codePoints(item.text);
    if (length > max)
      return invalid(
        `content[${index}].text`,
        `must be at most ${max} characters (Unicode code points); it has ${length}`,
      );
  }
  const hasText = content.some((item) => !isMedia(item) && item.text.trim() !== '');
  return hasText ? undefined : invalid('content', 'must hold a non-empty text item');
}

function roleFault({ content }: Order, allowed: readonly Role[]): Fault | undefined {
  const images = content.filter((item) => isMedia(item) && item.media === 'image');
  for (const [index, item] of content.entries()) {
    if (!isMedia(item)) continue;
    const field = `content[${index}].role`;
    if (item.role === undefined && (item.media !== 'image' || images.length > 1)) {
      return invalid(field, `is required for this item; use one of ${formatAllowedRoles(item.media, allowed)}`);
    }
    const role = resolveRole(item);
    if (role !== undefined && !allowed.includes(role))
      return invalid(field, `cannot be ${role} in this operation; use one of ${allowed.join(', ')}`);
    if (role !== undefined && MEDIA_OF[role] !== item.media)
      return invalid(
        field,
        `cannot be ${role} on an item of type ${item.media}_url; use one of ${formatAllowedRoles(item.media, allowed)}`,
      );
  }
  return undefined;
}

function formatAllowedRoles(media: MediaKind, allowed: readonly Role[]): string {
  return allowed.filter((role) => MEDIA_OF[role] === media).join(', ');
}

function addressFault({ content }: Order): Fault | undefined {
  const index = content.findIndex((item) => isMedia(item) && item.object === undefined && (item.url ?? '') === '');
  const item = content[index];
  return item === undefined || !isMedia(item)
    ? undefined
    : invalid(`content[${index}].${item.media}_url`, `must hold the URL of the ${item.media}`);
}

function countFault(order: Order): Fault | undefined {
  const media = listMedia(order);
  if (media.length > MEDIA_MAX)
    return invalid('content', `must hold at most ${MEDIA_MAX} media items; it holds ${media.length}`);
  for (const [role, max] of Object.entries(COUNT_MAX)) {
    const count = media.filter((item) => resolveRole(item) === role).length;
    if (count > max)
      return invalid('content', `must hold at most ${max} ${role} ${max === 1 ? 'item' : 'items'}; it holds ${count}`);
  }
  return undefined;
}

function exclusionFault(order: Order): Fault | undefined {
  const roles = listMedia(order).map(resolveRole);
  const has = (some: readonly Role[]): boolean => roles.some((role) => role !== undefined && some.includes(role));
  if (has(FRAMES) && has(REFERENCES))
    return invalid(
      'content',
      'must not mix first_frame or last_frame with reference_image, reference_video or reference_audio',
    );
  const onlyAudio = has(['reference_audio']) && !has(['reference_image', 'reference_video', 'base_video']);
  return onlyAudio
    ? invalid('content', 'must hold a reference_image or reference_video item together with reference_audio')
    : undefined;
}

/** Counts Unicode code points, not UTF-16 units. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function invalid(field: string, message: string): Fault {
  return { reason: 'invalid_content', field, message };
}
