import type { FieldName } from './fields.ts';

/** The documented reasons, as the client sees them behind the name of the item. */
export const REASONS = {
  unreached: /could not be fetched: its address does not answer to us$/,
  address:
    /must (be an http or https address, a data URL, or the address of a result|have an address of the form|have a valid http or https address|have an http or https address|have an address without a user name|have an address on port 80 or 443|have an address of at most \d+ characters|be a data URL with a media type)/,
  port: /must have an address on port 80 or 443$/,
  own: /must be, when it is an address of this service, that of a result/,
  unknown: /must be a result of this account that is still kept; there is none at this address$/,
  redirects: /could not be fetched: it redirects (more than 3 times|to no valid address)$/,
  status: /could not be fetched: the server answered \d+ where 200 is needed$/,
  encoding: /could not be fetched: the server sends it compressed, though it was asked not to$/,
  type: /must be served as (image|video|audio)\/…; it is served as another type$/,
  large: /must have at most \d+ (MiB|KiB|bytes)$/,
  slow: /could not be fetched in time: (it took longer than \d+ s|no answer began within \d+ s|no more of it came within \d+ s|it came too slowly|its name was not found within \d+ s|no connection was made within \d+ s)$/,
  upstream: /names an upstream file \(asset:\/\/ or mm_file:\/\/\), which this account may not use/,
  bytes:
    /(must be (a picture, a video or sound of a supported type|a whole file of its type|a still picture)|has more pixels than are taken$)/,
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
