import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { QueryParameter, EnvelopeName } from '../../dialects/dialect.ts';
import { markAnswer } from '../../domain/schema.ts';
import type { AnnotationHeader } from '../../domain/annotations.ts';
import type { AnswerSchema, Schema, TypeOf } from '../../domain/schema.ts';
import type { ResponseHeader } from '../response-headers.ts';
import { chooseEnvelope, fitStatuses } from '../../problems/envelopes.ts';
import type { ErrorStatus } from '../../problems/error-table.ts';
import type { TraceClass } from '@reelgate/platform/trace/trace';
import type { Exchange, RouteKind } from '../http-exchange.ts';

const JSON_TYPE = 'application/json';

export type Method = 'GET' | 'POST' | 'DELETE';

/** The rate limit of a token that a request counts against. */
export type Count = 'creates' | 'reads' | 'calls' | 'console';

export interface RouteEntry {
  readonly kind: RouteKind;
  /** `all`: the route answers every method alike. */
  readonly methods: readonly Method[] | 'all';
  /** As in OpenAPI: `{task_id}` is one segment, `{model}` and `{+rest}` any number of segments. */
  readonly path: string;
  /** Absent if the route needs no token, or if its signed link authorizes the request. */
  readonly token?: {
    readonly counts: Count;
    /** `session`: the sealed cookie of the console has the token, never a header. */
    readonly from?: 'session';
  };
  /** The class of its trace, which decides how often it is recorded; by default the rate limit selects the class. */
  readonly traced?: TraceClass;
  readonly doc: RouteDoc;
  handle(exchange: Exchange): Promise<void> | void;
}

/** Only routes that serve bytes answer with 412 and 416. */
export type RefusedStatus = ErrorStatus | 412 | 416;

/** An answer with another status that is not a refusal; its bodies have these types of `answers`. */
export interface OtherAnswer {
  readonly description: string;
  readonly headers?: readonly ResponseHeader[];
  readonly types?: readonly string[];
}

type RequestHeader = AnnotationHeader | 'Prefer' | 'Idempotency-Key' | 'Range' | 'anthropic-version' | 'Last-Event-ID';

/** The documentation of a route in OpenAPI. */
export interface RouteDoc {
  readonly tag: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** A create, and a read that has any, refuses every other one. */
  readonly parameters?: readonly QueryParameter[];
  /** Set if further parameters belong to the call that the route hands on. */
  readonly handsOnQuery?: true;
  /** Request headers that the route reads. */
  readonly headers?: readonly RequestHeader[];
  /** True if an upstream answers the request. */
  readonly isRelayed?: true;
  readonly json?: Schema;
  readonly form?: Schema;
  /** The status of a success; default 200. */
  readonly status?: 200 | 202;
  /** By media type; empty if the answer has no body of its own. `newAnswer` and `jsonRoute` check JSON. */
  readonly answers: Readonly<Record<string, Schema>> & { readonly [JSON_TYPE]?: AnswerSchema };
  readonly answerHeaders?: readonly ResponseHeader[];
  /** By status. */
  readonly also?: Readonly<Partial<Record<101 | 202 | 206 | 302 | 304, OtherAnswer>>>;
  /** In addition to the refusals of every route with a token, a body or an upstream. */
  readonly refuses?: readonly RefusedStatus[];
  /** The envelopes of its refusals, if the path alone does not determine one. */
  readonly envelopes?: readonly EnvelopeName[];
}

/** A route that answers with JSON. The compiler compares what it returns with the schema of its answer. */
export interface JsonRoute<S extends Schema, Body extends TypeOf<S> & object> extends Omit<
  RouteEntry,
  'doc' | 'handle'
> {
  readonly doc: Omit<RouteDoc, 'answers'>;
  readonly answer: S;
  readonly respond: (exchange: Exchange) => MaybePromise<Body>;
}

/** Builds a route that answers with JSON. */
export function jsonRoute<const S extends Schema, const Body extends TypeOf<S> & object>({
  doc,
  answer,
  respond,
  ...route
}: JsonRoute<S, Body>): RouteEntry {
  return {
    ...route,
    doc: { ...doc, answers: { [JSON_TYPE]: markAnswer(answer) } },
    handle: async (exchange) => {
      const body = await respond(exchange);
      if (doc.status !== undefined) exchange.status = doc.status;
      exchange.body = body;
    },
  };
}

/** The part of a path that is the id of a model. An id may have slashes. */
const MODEL_PART = /\{model\}/;

/** The path in the router's syntax. */
export function toRouterPath(path: string): string {
  return path
    .replace(MODEL_PART, '{+model}')
    .replace(/\{\+(\w+)\}/g, '*$1')
    .replace(/:(?=\w+$)/, '\\:')
    .replace(/\{(\w+)\}/g, ':$1');
}

/** The parameters of an actual path; undefined if the path does not match. */
export function matchPath(path: string, actual: string): Readonly<Record<string, string>> | undefined {
  const pattern = path
    .replace(/[.:]/g, '\\$&')
    .replace(MODEL_PART, '(?<model>.+)')
    .replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const found = new RegExp(`^${pattern}$`).exec(actual);
  return found === null ? undefined : { ...found.groups };
}

/** A last slash changes no route. */
export function withoutLastSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The refusals of every route with a token. */
export const WITH_TOKEN: readonly ErrorStatus[] = [401, 403, 429];
const WITH_BODY: readonly ErrorStatus[] = [400, 408, 413, 415];
const RELAYED: readonly ErrorStatus[] = [404, 502, 504];
const ANY_ROUTE: readonly ErrorStatus[] = [500, 503];

/** The statuses with which the gateway itself refuses a request to a route. */
export function listRefusalStatuses({ kind, path, token, doc }: RouteEntry): ReadonlySet<RefusedStatus> {
  const statuses: readonly RefusedStatus[] = [
    ...(token === undefined ? [] : WITH_TOKEN),
    ...(doc.json === undefined ? [] : WITH_BODY),
    ...(doc.isRelayed === true ? RELAYED : []),
    ...ANY_ROUTE,
    ...(doc.refuses ?? []),
  ];
  const spends = kind === 'create' || doc.isRelayed === true;
  return new Set(spends ? fitStatuses(chooseEnvelope(path), statuses) : statuses);
}
