import type { Message } from '@bufbuild/protobuf';
import type { Order, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Task, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';
import type { AnnotationName, Annotations } from '../domain/annotations.ts';
import type { Charge } from '../domain/charge.ts';
import type { Models } from '../domain/model-defaults.ts';
import type { Answer, Schema } from '../domain/schema.ts';

/** A part of a form that is a file. */
export interface FormFile {
  readonly name: string;
  /** As the client declared it; can be empty. */
  readonly mediaType: string;
  readonly chunks: readonly Buffer[];
}

export interface Form {
  /** Names and values in the order of the form. */
  readonly fields: readonly (readonly [string, string])[];
  readonly files: readonly FormFile[];
}

/** A body, parsed but not validated. */
export type ClientBody = { readonly json: unknown } | { readonly form: Form };

/** The bytes of a medium in the body, as base64 text or raw. */
export type InlineBytes = { readonly base64: string } | { readonly chunks: readonly Buffer[] };

export interface InlineMedia {
  /** The index of the content item of the order. */
  readonly item: number;
  /** The field that holds the bytes, as the client wrote it. */
  readonly field: string;
  /** The media type that the client declared; can be empty. */
  readonly declaredType: string;
  readonly bytes: InlineBytes;
}

export interface FieldNames {
  /** The client's name for a field of the order, such as `seconds` for `duration`. */
  readonly clientField: (field: string) => string;
  /** Names the field to send in place of one that no channel takes. A strict dialect has no such field. */
  readonly describeRight?: (field: string) => string;
}

/** The members that stand outside a body: the caller, the order itself, and the values of headers. */
type NotBeside =
  | keyof Message
  | 'accountId'
  | 'tokenId'
  | 'order'
  | 'idempotencyKey'
  | 'requestFingerprint'
  | AnnotationName
  | 'queue';

/** The members that a client can give beside its order in a body. No upstream gets them. */
export type BesideOrder = Omit<CreateTaskRequest, NotBeside>;

/** A body, decoded into an order. */
export interface DecodedOrder extends FieldNames {
  readonly order: Order;
  /** The media with bytes that must still be stored. */
  readonly inline: readonly InlineMedia[];
  readonly beside: Partial<BesideOrder>;
}

export interface DecodeContext {
  readonly models: Models;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** The links of results. */
export interface Links {
  /**
   * Returns the link of the video of a task; undefined until the task has a video. It ends with the result, or at
   * `endsAt`, in milliseconds since 1970, if that is earlier.
   */
  toVideoUrl(task: Task, endsAt?: number): string | undefined;
  /** Returns the public address of a path of this service. */
  toAddress(path: `/${string}`): string;
  /** Returns the path of that address. */
  toPublicPath(path: `/${string}`): string;
}

interface RouteSummary {
  /** As in OpenAPI, with parameters such as `{task_id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
}

export interface CreateRoute extends RouteSummary {
  /**
   * The valid bodies, as far as a schema can describe them: names, types and the rules of every model. A generated test
   * compares the schema with the bodies that the route accepts.
   */
  readonly body: Schema;
  /** Set if the body can be a multipart form too. */
  readonly form?: Schema;
  /** Every field of an open dialect, for the refusal of an unknown field. A strict dialect lists no fields here. */
  readonly known?: readonly string[];
  /** The status of its answer; default 200. */
  readonly status?: 202;
  /** Pure: it throws a Problem to refuse, and calls no service. */
  decode(body: ClientBody, context: DecodeContext): DecodedOrder;
  /** Depends only on the task, and not on its place, so that a replayed create has the same answer. */
  readonly answer: Answer<[task: Task, links: Links]>;
}

/** A path that names one task. The route reads the id under this name. */
export type TaskPath = `${string}/{task_id}${string}`;

export interface ReadRoute extends RouteSummary {
  readonly path: TaskPath;
  /** Set if its answer shows the charge; otherwise billing is not asked. */
  readonly showsCharge?: true;
  /** `charge` is undefined if the route does not show it, or if it is not known now. */
  readonly answer: Answer<[task: Task, links: Links, charge?: Charge]>;
}

export interface QueryParameter {
  readonly name: string;
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema;
}

export interface ListQuery extends Annotations {
  readonly limit: number;
  readonly after?: string;
  readonly ascending?: boolean;
  readonly offset?: number;
  readonly states?: TaskState[];
  readonly taskIds?: string[];
  readonly model?: string;
  readonly kind?: TaskKind;
  readonly withTotal?: boolean;
}

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
  readonly total: number;
  /** By task; empty if the route does not show charges. */
  readonly charges: ReadonlyMap<string, Charge>;
}

export interface ListRoute extends RouteSummary {
  readonly parameters: readonly QueryParameter[];
  /** Set if its answer shows charges; otherwise billing is not asked. */
  readonly showsCharges?: true;
  decode(query: URLSearchParams): ListQuery;
  readonly answer: Answer<[page: TaskPage, links: Links]>;
}

interface EndSummary extends RouteSummary {
  readonly path: TaskPath;
  readonly method: 'POST' | 'DELETE';
}

export interface CancelRoute extends EndSummary {
  readonly ends: 'cancel';
  readonly answer: Answer<[task: Task, links: Links]>;
}

export interface DeleteRoute extends EndSummary {
  readonly ends: 'delete';
  readonly answer: Answer<[taskId: string]>;
}

export type EndRoute = CancelRoute | DeleteRoute;

/** The routes and bodies of one family of clients. It maps fields; the tasks service judges their values. */
export interface Dialect {
  readonly name: string;
  /**
   * The shape of the refusals at every path from this one on, routes or not. If it is absent, its paths have the
   * envelope of OpenAI, which is the default.
   */
  readonly refusals?: { readonly envelope: EnvelopeName; readonly from: `/${string}` };
  readonly creates: readonly CreateRoute[];
  readonly reads: readonly ReadRoute[];
  readonly lists: readonly ListRoute[];
  readonly ends: readonly EndRoute[];
}

/** The shapes of a refusal, one for each family of clients. */
export type EnvelopeName = 'openai' | 'vendor' | 'anthropic' | 'google' | 'mcp' | 'openrouter';
