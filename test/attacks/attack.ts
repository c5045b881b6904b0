import type { FieldName } from './fields.ts';

/** The documented reasons, as the client sees them behind the name of the item. */
export const REASONS = {
  unreached: /could not be fetched: its address cannot be reached$/,
  address:
    /must (be an http or https address, a data URL, or the address of a result|have an address of the form|have a valid http or https address|have an http or https address|have an address without a user name|have an address on port 80 or 443|have an address of at most \d+ characters|be a data URL with a media type)/,
  port: /must have an address on port 80 or 443$/,
  own: /must be the address of a result if it is an address of this service/,
  unknown: /must be a stored result of this account; there is none at this address$/,
  redirects: /could not be fetched: it redirects (more than 3 times|to an invalid address)$/,
  status: /could not be fetched: the server answered \d+; expected 200$/,
  encoding: /could not be fetched: the server compressed it although the request allows no compression$/,
  type: /must be served as (image|video|audio)\/…; it is served as another type$/,
  large: /must have at most \d+ (MiB|KiB|bytes)$/,
  slow: /could not be fetched in time: (it took longer than \d+ s|no answer came within \d+ s|no more bytes came within \d+ s|its bytes came too slowly|its name was not found within \d+ s|no connection was made within \d+ s)$/,
  upstream: /names an upstream file \(asset:\/\/ or mm_file:\/\/\) that this account may not use/,
  bytes:
    /(must be (an image, a video or audio of a supported type|a complete file of its type|a single picture)|has more pixels than are accepted$)/,
} as const;
export type Reason = keyof typeof REASONS;

/** A create with one URL that must be refused. */
export interface Attack {
  readonly group: string;
  readonly url: string;
  /** Any of these. */
  readonly reasons: readonly Reason[];
  /** Absent: the fields take turns. */
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
