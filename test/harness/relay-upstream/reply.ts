import type { Received } from './received.ts';

/** The answer to a request, before the words of the request change it. */
export type Reply =
  | { readonly kind: 'json'; readonly body: object }
  | { readonly kind: 'stream'; readonly frames: readonly string[] }
  | { readonly kind: 'bytes'; readonly contentType: string; readonly bytes: Buffer };

/** The forms of one vendor's answers. */
export interface Vendor {
  /** An error in the vendor's envelope. */
  error(status: number, asked: Received): object;
  /** The vendor's error within a stream. */
  errorFrame(asked: Received): string;
}

export type Answer = (asked: Received) => Reply;

export const json = (body: object): Reply => ({ kind: 'json', body });
export const data = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
export const event = (type: string, body: object): string => `event: ${type}\n${data({ type, ...body })}`;

/** The reported usage; `[usage:IN/OUT]` in the request replaces it. */
const USED = { input: 11, output: 7 } as const;

export function usedBy({ words }: Received): { readonly input: number; readonly output: number } {
  const [input, output] = words.text('usage', `${USED.input}/${USED.output}`).split('/').map(Number);
  return { input: input ?? 0, output: output ?? 0 };
}

const PIECES = ['Hello', ' from', ' the', ' other', ' side.'] as const;
export const SAID = PIECES.join('');

/** The pieces of a text: five, or N with `[pieces:N]`, or one of this size with `[huge:BYTES]`. */
export function piecesFor({ words }: Received): readonly string[] {
  if (words.has('huge')) return ['x'.repeat(words.number('huge', 0))];
  const count = words.number('pieces', PIECES.length);
  return Array.from({ length: count }, (_, at) => PIECES[at] ?? ` ${at}`);
}

export const textFor = (asked: Received): string => piecesFor(asked).join('');
