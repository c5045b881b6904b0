import type { DescMethodUnary, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Scope } from '@reelgate/proto/access/v1/access';

/** Who calls a service directly. */
export interface Caller {
  readonly name: string;
  /** The accounts whose things it may see and change; `*` is every account. */
  readonly accounts: readonly string[] | '*';
  /** What it may do at all. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the caller went away or its deadline passed. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: DEADLINE_MS. */
  readonly timeoutMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** Every call ends within this unless it says otherwise. */
export const DEADLINE_MS = 30_000;

type Unary<S extends DescService, M extends keyof S['method']> =
  S['method'][M] extends DescMethodUnary<infer I, infer O> ? { input: I; output: O } : never;

/** What a service does, method by method. It refuses by throwing a Problem. */
export type Implementation<S extends DescService> = {
  readonly [M in keyof S['method']]: (
    request: MessageShape<Unary<S, M>['input']>,
    context: CallContext,
  ) => Promise<MessageInitShape<Unary<S, M>['output']>>;
};

/** The same service from the caller's side: in this process or over the network, it refuses with a Problem all the same. */
export type Client<S extends DescService> = {
  readonly [M in keyof S['method']]: (
    request: MessageInitShape<Unary<S, M>['input']>,
    options?: CallOptions,
  ) => Promise<MessageShape<Unary<S, M>['output']>>;
};

type AnyMethod = (request: never, context: CallContext) => Promise<unknown>;

/** A service with what it does, ready to be mounted on any transport. */
export interface Binding {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, AnyMethod>>;
}

export function bind<S extends DescService>(service: S, implementation: Implementation<S>): Binding {
  return { service, methods: implementation };
}
