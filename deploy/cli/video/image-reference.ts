import { CommandFailed } from '../command.ts';

/** The first bytes of files of these types. */
const TYPES: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^\u0089PNG/],
  ['image/jpeg', /^\u00ff\u00d8\u00ff/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/gif', /^GIF8/],
  ['image/bmp', /^BM/],
];
const HEAD_BYTES = 16;

/** The first frame in the form of the API: an address unchanged, a file as a data URL. */
export async function imageReference(image: string, read: (file: string) => Promise<Buffer>): Promise<string> {
  if (/^https?:\/\//.test(image)) return image;
  const bytes = await read(image);
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const [type] = TYPES.find(([, magic]) => magic.test(head)) ?? [];
  if (type === undefined) throw new CommandFailed(`${image} is not an image; expected PNG, JPEG, WebP, GIF or BMP`);
  return `data:${type};base64,${bytes.toString('base64')}`;
}
