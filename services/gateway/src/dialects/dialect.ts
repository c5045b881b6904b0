import type { Order, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Task, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Models } from '../domain/model-defaults.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** A part of a form that came with bytes. */
export interface FormFile {
  readonly name: string;
  /** As the client declared it; may be empty. */
  readonly mediaType: string;
  readonly chunks: readonly Buffer[];
}

export interface Form {
  /** Names and values in the order in which they came. */
  readonly fields: readonly (readonly [string, string])[];
  readonly files: readonly FormFile[];
}

/** A body as it came, parsed and nothing more. */
export type ClientBody = { readonly json: unknown } | { readonly form: Form };

/** Bytes that came within the body, as base64 text or as they are. */
export type InlineBytes = { readonly base64: string } | { readonly chunks: readonly Buffer[] };

export interface InlineMedia {
  /** Which content item of the order they belong to. */
  readonly item: number;
  /** Where the client put them, in the dialect's spelling. */
  readonly field: string;
  /** The media type that the client declared; may be empty. */
  readonly declaredType: string;
  readonly bytes: InlineBytes;
}

/** What a body means. */
export interface Decoded {
  readonly order: Order;
  /** The items of the order whose bytes are still to be stored. */
  readonly inline: readonly InlineMedia[];
  /** How this dialect spells a field of the order, such as `seconds` for `duration`. */
  readonly spell: (field: string) => string;
}

export interface DecodeContext {
  readonly models: Models;
  /** The variable parts of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Where a client can fetch what a task made. */
export interface Links {
  /** Undefined until there is a video. */
  videoOf(task: Task): string | undefined;
}

interface Documented {
  /** As in OpenAPI, with `{task_id}` for what varies. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly answer: Schema;
}

export interface CreateRoute extends Documented {
  /** What is taken, as far as a schema can say it: names, types, and what holds for every model. A generated test holds it against what the routes take. */
  readonly body: Schema;
  /** Set where the body can also be a multipart form. */
  readonly form?: Schema;
  /** Pure: it refuses by throwing a Problem, and asks nobody. */
  decode(body: ClientBody, context: DecodeContext): Decoded;
  /** Depends on nothing but the task, so that a replayed create has the same answer. */
  encode(task: Task, links: Links): object;
}

export interface ReadRoute extends Documented {
  encode(task: Task, links: Links): object;
}

export interface QueryParameter {
  readonly name: string;
  readonly required?: true;
  readonly description: string;
  readonly schema: Schema;
}

export interface ListQuery {
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
}

export interface ListRoute extends Documented {
  readonly parameters: readonly QueryParameter[];
  decode(query: URLSearchParams): ListQuery;
  encode(page: TaskPage, links: Links): object;
}

/** How a task was ended by its owner. */
export type Ending =
  { readonly action: 'cancelled'; readonly task: Task } | { readonly action: 'deleted'; readonly taskId: string };

export interface EndRoute extends Documented {
  readonly method: 'POST' | 'DELETE';
  readonly ends: 'cancel' | 'delete';
  encode(ending: Ending, links: Links): object;
}

/** How one family of clients speaks of tasks. It knows names of fields; what they mean is judged by the tasks service. */
export interface Dialect {
  readonly name: string;
  readonly creates: readonly CreateRoute[];
  readonly reads: readonly ReadRoute[];
  readonly lists: readonly ListRoute[];
  readonly ends: readonly EndRoute[];
}
