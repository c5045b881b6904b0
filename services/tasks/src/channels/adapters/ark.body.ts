import type { MediaKind } from '../../domain/order.ts';
import type { Attempt, AttemptItem } from '../channel.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };
/**
 * This upstream reads `--dur 12` in a prompt as a command, and would make a longer video than the one that is charged.
 */
const COMMAND = /--(?=[a-z])/gi;
const DASH = '—';

/** The body of a create. The API writes resolutions in lower case. */
export function toUpstreamBody({ model, order, content }: Attempt): object {
  return {
    model,
    content: content.map(toContentItem),
    ...toOptionalField('resolution', order.resolution?.toLowerCase()),
    ...toOptionalField('ratio', order.ratio),
    ...toOptionalField('duration', order.duration),
  };
}

function toContentItem(item: AttemptItem): object {
  if ('text' in item) return { type: 'text', text: item.text.replaceAll(COMMAND, DASH) };
  const type = TYPE_OF[item.media];
  return { type, [type]: { url: item.url }, ...toOptionalField('role', item.role) };
}

function toOptionalField(name: string, value: unknown): object {
  return value === undefined ? {} : { [name]: value };
}
