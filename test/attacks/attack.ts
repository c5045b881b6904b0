import type { FieldName } from './fields.ts';

const anyOf = (...texts: readonly string[]): string => `(${texts.join('|')})`;

/**
 * The documented reasons, as the client sees them after the name of the item. The origins of the attacks are private
 * addresses that the operator excepts, so whatever they answer has the reason `unreached`.
 */
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
      'be a data URL with base64',
    )}`,
  ),
  port: /must have an address on port 80 or 443$/,
  own: /must be the address of a result if it is an address of this service/,
  unknown: /must be a stored result of this account; there is none at this address$/,
  slow: /could not be fetched in time: its name was not found within \d+ s$/,
  upstream: /names an upstream file \(asset:\/\/ or mm_file:\/\/\) that this account may not use/,
  bytes: new RegExp(
    anyOf(
      String.raw`must be (?:an image|a video|audio) \([^)]+\); its bytes are of none of these`,
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
