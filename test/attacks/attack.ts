import type { FieldName } from './fields.ts';

const anyOf = (...texts: readonly string[]): string => `(${texts.join('|')})`;

/** The documented reasons, as the client sees them after the name of the item. */
export const REASONS = {
  unreached: /could not be fetched: its address cannot be reached$/,
  address: new RegExp(
    `must ${anyOf(
      'be an http or https address, a data URL, or the address of a result',
      'have an address of the form',
      'have a valid http or https address',
      'have an http or https address',
      'have an address without a user name',
      'have an address on port 80 or 443',
      String.raw`have an address of at most \d+ characters`,
      'be a data URL with a media type',
    )}`,
  ),
  port: /must have an address on port 80 or 443$/,
  own: /must be the address of a result if it is an address of this service/,
  unknown: /must be a stored result of this account; there is none at this address$/,
  redirects: /could not be fetched: it redirects (more than 3 times|to an invalid address)$/,
  status: /could not be fetched: the server answered \d+; expected 200$/,
  encoding: /could not be fetched: the server compressed it although the request allows no compression$/,
  type: /must be served as (image|video|audio)\/…; it is served as another type$/,
  large: /must have at most \d+ (MiB|KiB|bytes)$/,
  slow: new RegExp(
    `could not be fetched in time: ${anyOf(
      String.raw`it took longer than \d+ s`,
      String.raw`no answer came within \d+ s`,
      String.raw`no more bytes came within \d+ s`,
      'its bytes came too slowly',
      String.raw`its name was not found within \d+ s`,
      String.raw`no connection was made within \d+ s`,
    )}$`,
  ),
  upstream: /names an upstream file \(asset:\/\/ or mm_file:\/\/\) that this account may not use/,
  bytes: new RegExp(
    anyOf(
      'must be an image, a video or audio of a supported type',
      'must be a complete file of its type',
      'must be a single picture',
      'has more pixels than are accepted$',
    ),
  ),
} as const;
export type Reason = keyof typeof REASONS;

/** A create with one URL that must be refused. */
export interface Attack {
  readonly group: string;
  readonly url: string;
  /** The refusal may have any of these. */
  readonly reasons: readonly Reason[];
  /** Absent: each attack uses the next field. */
  readonly field?: FieldName;
}

export function attacks(
  group: string,
  reasons: readonly Reason[],
  urls: readonly string[],
  field?: FieldName,
): readonly Attack[] {
  return urls.map((url) => ({ group, url, reasons, ...(field === undefined ? {} : { field }) }));
}
