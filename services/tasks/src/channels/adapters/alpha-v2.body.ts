import type { MediaKind } from '../../domain/order.ts';
import type { Attempt, AttemptItem } from '../channel.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };

/** The request body of an attempt. It holds only fields of the vendor's schema. */
export function toUpstreamBody({
  kind,
  model,
  order,
  content,
  sourceUpstreamId,
  callbackUrl,
}: Attempt): Readonly<Record<string, unknown>> {
  if (kind === 'regeneration') {
    const source =
      sourceUpstreamId === undefined ? { content: content.map(toContentItem) } : { source_task_id: sourceUpstreamId };
    return {
      model,
      ...source,
      resolution: order.resolution,
      ...toOptionalField('aigc_watermark', order.aigcWatermark),
      ...toOptionalField('callback_url', callbackUrl),
    };
  }
  return {
    model,
    content: content.map(toContentItem),
    ...(kind === 'generation' ? { resolution: order.resolution } : {}),
    duration: order.duration,
    ...toOptionalField('ratio', order.ratio),
    ...toOptionalField('callback_url', kind === 'context_ir' ? (order.callbackUrl ?? callbackUrl) : callbackUrl),
  };
}

function toContentItem(item: AttemptItem): Readonly<Record<string, unknown>> {
  if ('text' in item) return { type: 'text', text: item.text };
  const type = TYPE_OF[item.media];
  return { type, [type]: { url: item.url }, ...toOptionalField('role', item.role) };
}

function toOptionalField(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}
