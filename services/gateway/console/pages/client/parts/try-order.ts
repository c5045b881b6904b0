import type { TaskView } from '../../../api/task.ts';
import type { TryModel } from '../../../api/try.ts';

/** The body of `POST /v1/video/generations`. Fields that the form does not know are kept as they are. */
export type Order = Readonly<Record<string, unknown>>;

export type MediaKind = 'image' | 'video' | 'audio';

/** A reference of an order as the form shows it. */
export interface OrderMedia {
  /** Its place in the content. */
  readonly at: number;
  readonly kind: MediaKind;
  readonly role: string;
  readonly url: string;
}

/** A file of the visitor. In the order stands its name, in the call its bytes. */
export interface Upload {
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  readonly dataUrl: string;
}

export type Uploads = ReadonlyMap<string, Upload>;

export const ROLES: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ['first_frame', 'last_frame', 'reference_image'],
  video: ['reference_video'],
  audio: ['reference_audio'],
};
const UPLOAD = 'upload:';
/** Fields of a task that a new order expresses in another way, or that a generation does not have. */
const NOT_COPIED: ReadonlySet<string> = new Set(['size', 'source_task_id', 'aigc_watermark', 'callback_url']);
const TYPES: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };
/** An estimate counts media and does not look into them. */
const SMALL: Readonly<Record<string, string>> = {
  image: 'data:image/png;base64,AAAA',
  video: 'data:video/mp4;base64,AAAA',
  audio: 'data:audio/mpeg;base64,AAAA',
};

export function firstOrder({ id, defaults }: TryModel): Order {
  return { model: id, prompt: '', ...defaults };
}

/** The order of a task once more, and how many of its media are not kept. */
export function repeatOrder({ task }: Pick<TaskView, 'task'>): { readonly order: Order; readonly missing: number } {
  const kept = task.references.flatMap(({ role, kind, url }) =>
    url === undefined ? [] : [toContentItem(kind, role, url)],
  );
  const settings = Object.entries(task.settings).filter(([name]) => !NOT_COPIED.has(name));
  const order = {
    model: task.model,
    prompt: task.fullPrompt,
    duration: task.seconds,
    resolution: task.resolution,
    ratio: task.ratio,
    ...(kept.length === 0 ? {} : { content: kept }),
    ...Object.fromEntries(settings),
  };
  return { order: withoutEmpty(order), missing: task.references.length - kept.length };
}

/** A changed field; an empty one is left out, but for the prompt. */
export function withOrderField(order: Order, name: string, value: unknown): Order {
  const changed = { ...order, [name]: value };
  return name === 'prompt' ? changed : withoutEmpty(changed);
}

/** Switches the model. Values that the new model does not take become its defaults. */
export function withModel(order: Order, model: TryModel): Order {
  const { duration, resolution, ratio } = order;
  const { min, max } = model.duration;
  const fits = typeof duration === 'number' && duration >= min && duration <= max;
  return {
    ...order,
    model: model.id,
    ...(fits ? {} : { duration: model.defaults.duration }),
    ...(model.resolutions.includes(String(resolution)) ? {} : { resolution: model.defaults.resolution }),
    ...(model.ratios.includes(String(ratio)) ? {} : { ratio: model.defaults.ratio }),
  };
}

/** The next whole number of seconds that a model takes. */
export function clampDuration(duration: unknown, { duration: { min, max }, defaults }: TryModel): number {
  const seconds = typeof duration === 'number' ? Math.round(duration) : defaults.duration;
  return Math.min(max, Math.max(min, seconds));
}

/** The ratios that an order can have: some need media to follow. */
export function listRatios(model: TryModel | undefined, order: Order): readonly string[] {
  const { ratios = [], mediaRatios = [] } = model ?? {};
  return listMedia(order).length > 0 ? ratios : ratios.filter((ratio) => !mediaRatios.includes(ratio));
}

export function listMedia({ content }: Order): readonly OrderMedia[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((item: unknown, at) => {
    const kind = readMediaKind(item);
    if (kind === undefined) return [];
    const { role, [TYPES[kind]]: source } = item as Readonly<Record<string, unknown>>;
    const url = typeof source === 'object' && source !== null && 'url' in source ? source.url : '';
    return [{ at, kind, role: typeof role === 'string' ? role : '', url: String(url) }];
  });
}

/** One more reference. A single image is the first frame; of several each is a reference. */
export function withMedia(order: Order, kind: MediaKind, url: string): Order {
  const content = readContent(order);
  const role = kind === 'image' && listMedia(order).length === 0 ? 'first_frame' : `reference_${kind}`;
  return { ...order, content: [...content, toContentItem(kind, role, url)] };
}

export function withRole(order: Order, at: number, role: string): Order {
  const content = readContent(order).map((item, place) => (place === at ? { ...(item as object), role } : item));
  return { ...order, content };
}

export function withoutMedia(order: Order, at: number): Order {
  return withoutEmpty({ ...order, content: readContent(order).filter((_item, place) => place !== at) });
}

/** The order without the visitor's files, because their bytes are not kept. */
export function withoutUploads(order: Order): Order {
  const uploaded = new Set(listMedia(order).flatMap(({ at, url }) => (url.startsWith(UPLOAD) ? [at] : [])));
  if (uploaded.size === 0) return order;
  return withoutEmpty({ ...order, content: readContent(order).filter((_item, at) => !uploaded.has(at)) });
}

/** The name of an upload in the order. A second file of the same name gets a number. */
export function uploadName(uploads: Uploads, name: string): string {
  for (let count = 1; ; count += 1) {
    const candidate = `${UPLOAD}${count === 1 ? '' : `${count}/`}${name}`;
    if (!uploads.has(candidate)) return candidate;
  }
}

/** The body of the create: the bytes of each file in the place of its name. */
export function toCreateBody(order: Order, uploads: Uploads): Order {
  return replaceUploads(order, (url) => uploads.get(url)?.dataUrl) as Order;
}

/** The body of the estimate: without the bytes, and with words where the prompt is still empty. */
export function toEstimateBody(order: Order, uploads: Uploads): Order {
  const prompt = order['prompt'];
  const small = replaceUploads(order, (url) => SMALL[uploads.get(url)?.type.split('/')[0] ?? '']) as Order;
  return typeof prompt === 'string' && prompt.trim() === '' ? { ...small, prompt: '…' } : small;
}

/** Parses an order that a person wrote as JSON, or returns the error. */
export function parseOrder(text: string): { readonly order: Order } | { readonly fault: string } {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? { order: parsed as Order }
      : { fault: '' };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function replaceUploads(value: unknown, of: (url: string) => string | undefined): unknown {
  if (typeof value === 'string') return value.startsWith(UPLOAD) ? (of(value) ?? value) : value;
  if (Array.isArray(value)) return value.map((item) => replaceUploads(item, of));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replaceUploads(inner, of)]));
}

function readContent({ content }: Order): readonly unknown[] {
  return Array.isArray(content) ? (content as unknown[]) : [];
}

function toContentItem(kind: MediaKind, role: string, url: string): object {
  return { type: TYPES[kind], ...(role === '' ? {} : { role }), [TYPES[kind]]: { url } };
}

function readMediaKind(item: unknown): MediaKind | undefined {
  const type = typeof item === 'object' && item !== null && 'type' in item ? item.type : undefined;
  return (['image', 'video', 'audio'] as const).find((kind) => TYPES[kind] === type);
}

function withoutEmpty(order: Order): Order {
  return Object.fromEntries(
    Object.entries(order).filter(
      ([, value]) => value !== '' && value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
