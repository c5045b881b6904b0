import type {
  DescMessage,
  DescMethod,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { Scope } from '@reelgate/proto/access/v1/access';
import type { Span } from '../trace/trace.ts';

/** The caller of a service. */
export interface Caller {
  readonly name: string;
  /** The accounts with the resources that it may see and change. `*` stands for every account. */
  readonly accounts: readonly string[] | '*';
  /** The scopes that it has. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the caller has left or its deadline has passed. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** The span of the call. The work of the method and the calls that it sends go below it. */
  readonly span: Span;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** By default DEADLINE_MS for a call of one message. A stream has no timeout by default. */
  readonly timeoutMs?: number | undefined;
  readonly requestId?: string | undefined;
  /** The span that the call belongs to, undefined if it is not recorded. */
  readonly span?: Span | undefined;
}

/** The default time limit of a call. */
export const DEADLINE_MS = 30_000;

/** The maximum number of bytes of one message, in both directions, compressed or not. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** A message for `create` with every field that is not optional: a mapping does not compile while it leaves one out. */
export type WholeMessage<S extends DescMessage> = Exclude<MessageInitShape<S>, Message> & {
  readonly [K in keyof Omit<MessageShape<S>, keyof Message>]: unknown;
};

/** A method throws a Problem to refuse a call. A stream that throws after some messages ends with that refusal. */
type Method<D extends DescMethod> =
  D extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>>
    : D extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
      : D extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, context: CallContext) => Promise<MessageInitShape<O>>
        : never;

/** The methods of a service. A stream in both directions is not supported. */
export type Implementation<S extends DescService> = {
  readonly [M in keyof S['method']]: Method<S['method'][M]>;
};

type ClientMethod<D extends DescMethod> =
  D extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, options?: CallOptions) => Promise<MessageShape<O>>
    : D extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, options?: CallOptions) => AsyncIterable<MessageShape<O>>
      : D extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageInitShape<I>>, options?: CallOptions) => Promise<MessageShape<O>>
        : never;

/**
 * A service from the view of its callers. In this process or over the network, a refusal is a Problem. A call of one
 * message always has a deadline. A stream has a deadline only if its options set one.
 */
export type Client<S extends DescService> = {
  readonly [M in keyof S['method']]: ClientMethod<S['method'][M]>;
};

interface AnyImplementation {
  /**
   * Written as a method, so that TypeScript accepts a method of any request. A transport reads the request by the
   * descriptor.
   */
  method(request: object, context: CallContext): Promise<unknown> | AsyncIterable<unknown>;
}

/** A method of any service. */
export type AnyMethod = AnyImplementation['method'];

/** A service with its methods, ready to be mounted on any transport. */
export interface Binding {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, AnyMethod>>;
  /** The method for the calls in a list, by the name of the method that takes the list. */
  readonly lists?: Readonly<Record<string, string>>;
}

export function bind<S extends DescService>(service: S, implementation: Implementation<S>): Binding {
  return { service, methods: implementation };
}

/**
 * A service with methods in `lists` that take calls of another method. The transports run those as they run calls of
 * their own, so the service implements only the other one.
 */
export function bindWithLists<
  S extends DescService,
  const L extends Readonly<Partial<Record<keyof S['method'], keyof S['method'] & string>>>,
>(service: S, implementation: Omit<Implementation<S>, keyof L>, lists: L): Binding {
  return { service, methods: implementation as Binding['methods'], lists: lists as Readonly<Record<string, string>> };
}
