import type { QueryParameter, Schema } from '../../dialects/dialect.ts';
import type { ResponseHeader } from '../../openapi/response-headers.ts';
import type { EnvelopeName } from '../../problems/envelopes.ts';
import type { ErrorStatus } from '../../problems/error-table.ts';
import type { Exchange } from '../exchange.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** What a request counts as under its token's limits; `nothing` is for those without a token. */
export type Count = 'creates' | 'reads' | 'calls';

export interface RouteEntry {
  /** Every method of the unsupported routes is answered alike. */
  readonly methods: readonly Method[] | 'all';
  /** As in OpenAPI, with `{task_id}` for what varies and `{+rest}` for any number of segments. */
  readonly path: string;
  /** Absent: open to all, or its link carries the right. */
  readonly token?: { readonly counts: Count };
  /** Whether it writes its head in one piece, with what every answer has (`Exchange.state.head`). */
  readonly writesHead?: true;
  readonly doc: RouteDoc;
  handle(exchange: Exchange): Promise<void> | void;
}

/** Only routes that serve bytes answer with 412 and 416. */
export type RefusedStatus = ErrorStatus | 412 | 416;

/** Another answer that is no refusal, with bodies of these types of `answers`. */
export interface OtherAnswer {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  readonly types?: readonly string[];
}

/** What OpenAPI says of a route. */
export interface RouteDoc {
  readonly tag: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly QueryParameter[];
  /** Headers of the request that mean something here. */
  readonly headers?: readonly ('Prefer' | 'Idempotency-Key' | 'Range' | 'anthropic-version')[];
  /** Whether an upstream answers it. */
  readonly isRelayed?: true;
  readonly json?: Schema;
  readonly form?: Schema;
  /** Of a success; 200 where nothing is said. */
  readonly status?: 200 | 202;
  /** By media type; empty where the answer has no body of its own. */
  readonly answers: Readonly<Record<string, Schema>>;
  readonly answerHeaders?: readonly ResponseHeader[];
  /** By status. */
  readonly also?: Readonly<Partial<Record<101 | 206 | 302 | 304, OtherAnswer>>>;
  /** Beyond those of every route that has a token, a body or an upstream. */
  readonly refuses?: readonly RefusedStatus[];
  /** Where the path alone does not say in which envelope it refuses. */
  readonly envelopes?: readonly EnvelopeName[];
}

/** The same path for the router. */
export function routerPath(path: string): string {
  return path
    .replace(/\{\+(\w+)\}/g, '*$1')
    .replace(/:(?=\w+$)/, '\\:')
    .replace(/\{(\w+)\}/g, ':$1');
}

/** What varies in an actual path; undefined when it is another path. */
export function matchPath(path: string, actual: string): Readonly<Record<string, string>> | undefined {
  const pattern = path.replace(/[.:]/g, '\\$&').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const found = new RegExp(`^${pattern}$`).exec(actual);
  return found === null ? undefined : { ...found.groups };
}
