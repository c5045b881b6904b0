import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, Order } from '@reelgate/proto/tasks/v1/order';
import type { SameCall } from '../../../console/api/task.ts';
import { MEDIA_KIND_WORDS, ROLE_WORDS } from '../../clients/task-words.ts';
import { emptyToUndefined } from '../../clients/wire-values.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readExtra } from '../views/task-view.ts';
import { writePrograms } from './call-programs.ts';
import type { CreateCall, ProgramFacts } from './call-programs.ts';

const VIDEOS = '/v1/videos';

/**
 * The programs that make an order again. Media whose bytes came with the request are left out. Undefined: no path
 * expresses the order.
 */
export function sameCall(
  order: Order,
  caller: Pick<ProgramFacts, 'publicUrl' | 'accountId' | 'tokenId'>,
): SameCall | undefined {
  const call = toCreateCall(order);
  if (call === undefined) return undefined;
  return {
    programs: writePrograms({ ...caller, ...call, order }),
    isPartial: order.content.some(({ item }) => item.case === 'media' && item.value.url === ''),
  };
}

/**
 * The path and the body. `POST /v1/videos` expresses most orders. The vendor's paths take the others: an enhanced
 * prompt, and a generation without a ratio or without words, which the open paths would fill in or refuse.
 */
export function toCreateCall(order: Order): CreateCall | undefined {
  if (order.kind === TaskKind.CONTEXT_IR) return { path: '/v2/h3_context_ir', body: contextIrBody(order) };
  if (order.kind === TaskKind.REGENERATION) return { path: VIDEOS, body: regenerationBody(order) };
  const { ratio, size, content } = order;
  if (ratio !== undefined && content.some(({ item }) => item.case === 'text' && item.value.trim() !== ''))
    return { path: VIDEOS, body: generationBody(order) };
  if (size !== undefined || Object.keys(readExtra(order)).length > 0) return undefined;
  return { path: '/v2/video_generation', body: vendorBody(order) };
}

function generationBody(order: Order) {
  const { model, content, duration, resolution, ratio, size } = order;
  return withExtra({ model, ...wordsAndMedia(content), duration, resolution, ratio, size }, order);
}

function vendorBody({ model, content, duration, resolution, ratio }: Order) {
  return dropUndefined({ model, content: content.flatMap(encodeItem), duration, resolution, ratio });
}

function contextIrBody({ model, content, duration, ratio, callbackUrl }: Order) {
  return dropUndefined({ model, content: content.flatMap(encodeItem), duration, ratio, callback_url: callbackUrl });
}

function regenerationBody(order: Order) {
  const own = {
    model: order.model,
    resolution: order.resolution,
    source_task_id: emptyToUndefined(order.sourceTaskId),
    ...toContentField(order.content),
    aigc_watermark: order.aigcWatermark,
  };
  return withExtra(own, order);
}

/** A single text before the media is the prompt. Any other order of texts and media stays in `content`. */
function wordsAndMedia(content: readonly ContentItem[]): Readonly<Record<string, unknown>> {
  const [first, ...rest] = content;
  if (first?.item.case !== 'text' || rest.some(({ item }) => item.case === 'text')) return toContentField(content);
  return { prompt: first.item.value, ...toContentField(rest) };
}

function toContentField(content: readonly ContentItem[]): { readonly content?: readonly object[] } {
  const items = content.flatMap(encodeItem);
  return items.length === 0 ? {} : { content: items };
}

function encodeItem({ item }: ContentItem): readonly object[] {
  if (item.case === 'text') return [{ type: 'text', text: item.value }];
  if (item.case === undefined || item.value.url === '') return [];
  const { kind, role, url } = item.value;
  const type = `${MEDIA_KIND_WORDS[kind]}_url`;
  return [{ type, ...dropUndefined({ role: ROLE_WORDS[role] }), [type]: { url } }];
}

/** Assigning could change the prototype, so the members are defined. */
function withExtra(fields: Readonly<Record<string, unknown>>, order: Order) {
  return Object.fromEntries([...Object.entries(dropUndefined(fields)), ...Object.entries(readExtra(order))]);
}
