import type { MediaForm, MediaItem, MediaRole } from '../vendor-order.ts';
import { invalidParams } from '../vendor-refusal.ts';
import { mediaBytesMax } from '../limits.ts';
import { ifPresent, readChoice, readFields, readText } from './fields.ts';

export type Content = { readonly text: string; readonly media: readonly MediaItem[] };

type Item =
  { readonly text: string } | { readonly form: MediaForm; readonly role: MediaRole | undefined; readonly url: string };

const rolesOf: Readonly<Record<MediaForm, readonly MediaRole[]>> = {
  image: ['first_frame', 'last_frame', 'reference_image'],
  video: ['reference_video', 'base_video'],
  audio: ['reference_audio'],
};

export type ContentRules = { readonly textCodePointsMax: number; readonly baseVideo: boolean };

/** Reads the items one by one. read-create.ts decides which items can be combined. */
export function readContent(value: unknown, rules: ContentRules): Content {
  if (!Array.isArray(value) || value.length === 0) throw invalidParams('content must be a non-empty array');
  const items = value.map((item: unknown) => readItem(item, rules));
  const texts = items.flatMap((item) => ('text' in item ? [item.text] : []));
  if (!texts.some((text) => text.trim() !== ''))
    throw invalidParams('content must include a non-empty text item (prompt is required)');
  const media = items.flatMap((item) => ('text' in item ? [] : [item]));
  const images = media.filter((item) => item.form === 'image').length;
  return {
    text: texts.join('\n'),
    media: media.map((item) => ({ ...item, role: item.role ?? defaultRole(item.form, images) })),
  };
}

function readItem(value: unknown, rules: ContentRules): Item {
  const { type } = readFields(value, ['type', 'text', 'image_url', 'video_url', 'audio_url', 'role'], 'a content item');
  if (type === 'text') return { text: readPrompt(value, rules.textCodePointsMax) };
  if (type === 'image_url') return readMedia(value, 'image', rules);
  if (type === 'video_url') return readMedia(value, 'video', rules);
  if (type === 'audio_url') return readMedia(value, 'audio', rules);
  throw invalidParams('type of a content item must be one of text, image_url, video_url, audio_url');
}

function readPrompt(value: unknown, codePointsMax: number): string {
  const { text } = readFields(value, ['type', 'text'], 'a text item');
  if (typeof text !== 'string') throw invalidParams('text must be a string');
  // A character has one or two UTF-16 units, so the exact count matters only for a text near the limit.
  if (text.length > codePointsMax * 2 || (text.length > codePointsMax && Array.from(text).length > codePointsMax)) {
    throw invalidParams(`text must have at most ${codePointsMax} characters`);
  }
  return text;
}

function readMedia(value: unknown, form: MediaForm, rules: ContentRules): Item {
  const payload = `${form}_url`;
  const fields = readFields(value, ['type', payload, 'role'], `an item of type ${payload}`);
  const url = readText(readFields(fields[payload], ['url'], payload), 'url');
  checkMediaUrl(url, form);
  const roles = rolesOf[form].filter((role) => role !== 'base_video' || rules.baseVideo);
  return { form, url, role: ifPresent(fields, 'role', () => readChoice(fields, 'role', roles)) };
}

function defaultRole(form: MediaForm, images: number): MediaRole {
  if (form === 'image' && images === 1) return 'first_frame';
  throw invalidParams(
    form === 'image' ? 'role is required when there are several images' : `role is required for ${form}_url`,
  );
}

// The vendor accepts them only in lower case.
const dataFormats: Readonly<Record<MediaForm, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png', 'webp', 'heic', 'heif'],
  video: ['mp4', 'mov', 'quicktime'],
  audio: ['wav', 'mp3', 'mpeg'],
};

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Checks the three forms that the vendor accepts: a public address, one of its own files, or the bytes themselves. */
function checkMediaUrl(url: string, form: MediaForm): void {
  if (url.startsWith('data:')) checkDataUrl(url, form);
  else if (!/^mm_file:\/\/[\w.-]+$/.test(url) && !isHttpUrl(url))
    throw invalidParams(`${form}_url must be http(s)://, mm_file:// or data:${form}/`);
}

export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

function checkDataUrl(url: string, form: MediaForm): void {
  const comma = url.indexOf(',');
  const head = /^data:([a-z]+)\/([a-z0-9.+-]+);base64$/.exec(url.slice(0, Math.max(0, comma)));
  if (head?.[1] !== form || !dataFormats[form].includes(head[2] ?? '')) {
    throw invalidParams(
      `data of ${form}_url must begin with data:${form}/FORMAT;base64, ` +
        `where FORMAT is one of ${dataFormats[form].join(', ')}`,
    );
  }
  const bytes = Math.floor(((url.length - comma - 1) * 3) / 4);
  if (bytes > mediaBytesMax[form]) throw invalidParams(`${form} must have at most ${mediaBytesMax[form]} bytes`);
  if (!base64.test(url.slice(comma + 1))) throw invalidParams(`data of ${form}_url is not base64`);
}
