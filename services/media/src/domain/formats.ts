export type Family = 'image' | 'video' | 'audio';

interface Format {
  readonly family: Family;
  /** Of the names in links, without a dot. */
  readonly extension: string;
}

/** Every type that is kept. What the bytes say is looked up here; what is not here is refused. */
export const FORMATS: Readonly<Record<string, Format>> = {
  'image/jpeg': { family: 'image', extension: 'jpg' },
  'image/png': { family: 'image', extension: 'png' },
  'image/webp': { family: 'image', extension: 'webp' },
  'image/heic': { family: 'image', extension: 'heic' },
  'image/heif': { family: 'image', extension: 'heif' },
  'video/mp4': { family: 'video', extension: 'mp4' },
  'video/quicktime': { family: 'video', extension: 'mov' },
  'video/webm': { family: 'video', extension: 'webm' },
  'audio/mpeg': { family: 'audio', extension: 'mp3' },
  'audio/wav': { family: 'audio', extension: 'wav' },
};

/** What servers say of bytes that they know nothing about. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
]);
const OTHER_NAMES: Readonly<Record<string, Family>> = { 'application/mp4': 'video' };

/** A type, a subtype and parameters. A comma may stand in quotes alone: outside of them it begins a second type. */
const MEDIA_TYPE = /^([\w!#$%&'*+.^`|~-]+)\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;(?:[^",;]|"(?:[^"\\]|\\.)*")*)*$/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/**
 * Whether a declared type (a header, a data URL) may stand over bytes of this family. What is not one media type is
 * none of any family. Parameters and case do not matter.
 */
export function mayDeclare(declared: string | undefined, family: Family): boolean {
  const text = (declared ?? '').trim().toLowerCase();
  if (text === '') return true;
  const named = MEDIA_TYPE.exec(text)?.[1];
  if (named === undefined) return false;
  const type = text.split(';', 1)[0]?.trimEnd() ?? '';
  return SAYS_NOTHING.has(type) || (OTHER_NAMES[type] ?? named) === family;
}

/** Whether a header names several values where it may have one. */
export function isList(header: string): boolean {
  return header.replace(QUOTED, '').includes(',');
}
