import type { Attempt } from '../channel.ts';
import { formatSize } from './openai-videos.size.ts';

/** JSON, or a form if a file is sent; `unfit` if the API cannot express the order. */
export type VideoRequest = { readonly json: object } | { readonly form: FormData } | { readonly unfit: string };

const DATA_URL = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64});base64,/;

export function toUpstreamRequest({ model, order, content, extra }: Attempt): VideoRequest {
  const media = content.flatMap((item) => ('media' in item ? [item] : []));
  const [frame, second] = media;
  if (second !== undefined || (frame !== undefined && frame.role !== 'first_frame'))
    return { unfit: 'the videos API takes one first frame and no other media' };
  const size = formatSize(order);
  const fields = {
    ...extra,
    model,
    prompt: content.flatMap((item) => ('text' in item ? [item.text] : [])).join('\n'),
    ...(order.duration === undefined ? {} : { seconds: String(order.duration) }),
    ...(size === undefined ? {} : { size }),
  };
  if (frame === undefined) return { json: fields };
  const type = DATA_URL.exec(frame.url);
  return type === null
    ? { json: { ...fields, input_reference: { image_url: frame.url } } }
    : { form: buildForm(fields, { type: type[1] ?? '', base64: frame.url.slice(type[0].length) }) };
}

function buildForm(
  fields: Readonly<Record<string, unknown>>,
  { type, base64 }: { readonly type: string; readonly base64: string },
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.append(
    'input_reference',
    new Blob([Buffer.from(base64, 'base64')], { type }),
    `first_frame.${type.replace(/^.*\//, '')}`,
  );
  return form;
}
