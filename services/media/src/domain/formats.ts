export type Family = 'image' | 'video' | 'audio';

interface Format {
  readonly family: Family;
  /** The extension of names in links, without a dot. */
  readonly extension: string;
}

/** The media types that are stored. A file is refused if its bytes have another type. */
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

/** The types that servers declare for bytes of unknown type. */
const SAYS_NOTHING: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/binary',
]);
const OTHER_NAMES: Readonly<Record<string, Family>> = { 'application/mp4': 'video' };

/** A type, a subtype and parameters. A comma outside of quotes begins a second type, so it does not match. */
const MEDIA_TYPE = /^([\w!#$%&'*+.^`|~-]+)\/[\w!#$%&'*+.^`|~-]+[ \t]*(?:;(?:[^",;]|"(?:[^"\\]|\\.)*")*)*$/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

/**
 * Reports whether a declared type (a header, a data URL) is allowed for bytes of this family. A text that is not
 * exactly one media type is allowed for no family. Parameters and case do not matter.
 */
export function mayDeclare(declared: string | undefined, family: Family): boolean {
  const text = (declared ?? '').trim().toLowerCase();
  if (text === '') return true;
  const named = MEDIA_TYPE.exec(text)?.[1];
  if (named === undefined) return false;
  const type = text.split(';', 1)[0]?.trimEnd() ?? '';
  return SAYS_NOTHING.has(type) || (OTHER_NAMES[type] ?? named) === family;
}

/** Reports whether a header that has one value lists several. */
export function isList(header: string): boolean {
  return header.replace(QUOTED, '').includes(',');
}
