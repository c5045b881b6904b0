import type { SandboxParts } from '../sandbox-parts.ts';

/** A request as a route sees it: the id in the path, the query, the parsed body. */
export type Call = {
  readonly method: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly range: string | undefined;
  readonly body: unknown;
};

export type RouteHandler = (call: Call, parts: SandboxParts) => Answer | Promise<Answer>;

/** The answer of a route. The server turns it into bytes, or does not answer. */
export type Answer =
  | { readonly as: 'json'; readonly status: number; readonly body: unknown }
  | { readonly as: 'page' }
  | { readonly as: 'text'; readonly status: number; readonly text: string }
  | {
      readonly as: 'bytes';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly bytes: Uint8Array;
      readonly torn: boolean;
    }
  /** Each event is sent as soon as it arises. */
  | { readonly as: 'events'; readonly events: AsyncIterable<string> }
  | { readonly as: 'silence' }
  | { readonly as: 'cut' };

export function json(body: unknown): Answer {
  return { as: 'json', status: 200, body };
}
