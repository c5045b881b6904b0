import type { SameCall } from '../../../console/api/task.ts';
import type { PlainItem, PlainMedia, PlainOrder } from '../../clients/plain-task.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { writePrograms } from './call-programs.ts';
import type { CreateCall, ProgramFacts } from './call-programs.ts';

const VIDEOS = '/v1/videos';
const URL_OBJECTS = { image: 'image_url', video: 'video_url', audio: 'audio_url' } as const;

/**
 * The programs that make an order again. Media whose bytes came with the request are left out. Undefined: no path
 * expresses the order.
 */
export function sameCall(
  order: PlainOrder,
  caller: Pick<ProgramFacts, 'publicUrl' | 'accountId' | 'tokenId'>,
): SameCall | undefined {
  const call = toCreateCall(order);
  if (call === undefined) return undefined;
  return {
    programs: writePrograms({ ...caller, ...call, order }),
    isPartial: order.content.some((item) => 'media' in item && item.media.url === undefined),
  };
}

/**
 * The path and the body. `POST /v1/videos` expresses most orders. The vendor's paths take the others: an enhanced
 * prompt, and a generation without a ratio or without words, which the open paths would fill in or refuse.
 */
export function toCreateCall(order: PlainOrder): CreateCall | undefined {
  if (order.kind === 'context_ir') return { path: '/v2/h3_context_ir', body: contextIrBody(order) };
  if (order.kind === 'regeneration') return { path: VIDEOS, body: regenerationBody(order) };
  const { ratio, size, extra, content } = order;
  if (ratio !== undefined && content.some((item) => 'text' in item && item.text.trim() !== ''))
    return { path: VIDEOS, body: generationBody(order) };
  if (size !== undefined || Object.keys(extra).length > 0) return undefined;
  return { path: '/v2/video_generation', body: vendorBody(order) };
}

function generationBody({ model, content, duration, resolution, ratio, size, extra }: PlainOrder) {
  return withExtra({ model, ...wordsAndMedia(content), duration, resolution, ratio, size }, extra);
}

function vendorBody({ model, content, duration, resolution, ratio }: PlainOrder) {
  return dropUndefined({ model, content: content.flatMap(wireItem), duration, resolution, ratio });
}

function contextIrBody({ model, content, duration, ratio, callbackUrl }: PlainOrder) {
  return dropUndefined({ model, content: content.flatMap(wireItem), duration, ratio, callback_url: callbackUrl });
}

function regenerationBody({ model, content, resolution, sourceTaskId, aigcWatermark, extra }: PlainOrder) {
  const own = {
    model,
    resolution,
    source_task_id: sourceTaskId,
    ...toContentField(content),
    aigc_watermark: aigcWatermark,
  };
  return withExtra(own, extra);
}

/** A single text before the media is the prompt. Any other order of texts and media stays in `content`. */
function wordsAndMedia(content: readonly PlainItem[]): Readonly<Record<string, unknown>> {
  const [first, ...rest] = content;
  if (first === undefined || !('text' in first) || rest.some((item) => 'text' in item)) return toContentField(content);
  return { prompt: first.text, ...toContentField(rest) };
}

function toContentField(content: readonly PlainItem[]): { readonly content?: readonly object[] } {
  const items = content.flatMap(wireItem);
  return items.length === 0 ? {} : { content: items };
}

function wireItem(item: PlainItem): readonly object[] {
  return 'text' in item ? [{ type: 'text', text: item.text }] : wireMedia(item.media);
}

function wireMedia({ kind, role, url }: PlainMedia): readonly object[] {
  const type = URL_OBJECTS[kind];
  return url === undefined ? [] : [{ type, ...(role === undefined ? {} : { role }), [type]: { url } }];
}

/** Assigning could change the prototype, so the members are defined. */
function withExtra(fields: Readonly<Record<string, unknown>>, extra: PlainOrder['extra']) {
  return Object.fromEntries([...Object.entries(dropUndefined(fields)), ...Object.entries(extra)]);
}
