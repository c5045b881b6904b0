import { words } from '../words.ts';

type Plain = (message: string) => string;
const PLAIN: Readonly<Partial<Record<string, Plain>>> = words.faults;

/** The message of a refusal or a failure for a person at a page. Most messages of the API are for both. */
export function plainMessage({ code, message }: { readonly code: string; readonly message: string }): string {
  return PLAIN[code]?.(message) ?? message;
}
