import { mediaBytesMax } from '../limits.ts';
import type { MediaForm } from '../vendor-order.ts';
import { invalidParams } from '../vendor-refusal.ts';

// The vendor accepts them only in lower case.
const dataFormats: Readonly<Record<MediaForm, readonly string[]>> = {
  image: ['jpg', 'jpeg', 'png', 'webp', 'heic', 'heif'],
  video: ['mp4', 'mov', 'quicktime'],
  audio: ['wav', 'mp3', 'mpeg'],
};

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Checks the three forms that the vendor accepts: a public address, one of its own files, or the bytes themselves. */
export function checkMediaUrl(url: string, form: MediaForm): void {
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
