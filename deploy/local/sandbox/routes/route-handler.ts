import type { Answer } from '../http/answer.ts';
import type { SandboxParts } from '../sandbox-parts.ts';

/** One request as a route sees it: the id in the path, the query, the parsed body. */
export type Call = {
  readonly method: string;
  readonly id: string;
  readonly query: URLSearchParams;
  readonly range: string | undefined;
  readonly body: unknown;
};

export type RouteHandler = (call: Call, parts: SandboxParts) => Answer | Promise<Answer>;
