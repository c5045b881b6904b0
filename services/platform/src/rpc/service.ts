import type { DescMethodUnary, DescService, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { Scope } from '@reelgate/proto/access/v1/access';

/** The caller of a service. */
export interface Caller {
  readonly name: string;
  /** The accounts whose resources it may see and change; `*` means every account. */
  readonly accounts: readonly string[] | '*';
  /** The scopes that it has. */
  readonly scopes: ReadonlySet<Scope>;
}

export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the caller has left or its deadline has passed. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Default: DEADLINE_MS. */
  readonly timeoutMs?: number | undefined;
  readonly requestId?: string | undefined;
}

/** The default time limit of a call. */
export const DEADLINE_MS = 30_000;

type Unary<S extends DescService, M extends keyof S['method']> =
  S['method'][M] extends DescMethodUnary<infer I, infer O> ? { input: I; output: O } : never;

/** The methods of a service. They refuse by throwing a Problem. */
export type Implementation<S extends DescService> = {
  readonly [M in keyof S['method']]: (
    request: MessageShape<Unary<S, M>['input']>,
    context: CallContext,
  ) => Promise<MessageInitShape<Unary<S, M>['output']>>;
};

/** The same service for its callers. In this process or over the network, a refusal is a Problem. */
export type Client<S extends DescService> = {
  readonly [M in keyof S['method']]: (
    request: MessageInitShape<Unary<S, M>['input']>,
    options?: CallOptions,
  ) => Promise<MessageShape<Unary<S, M>['output']>>;
};

type AnyMethod = (request: never, context: CallContext) => Promise<unknown>;

/** A service with its methods, ready to be mounted on any transport. */
export interface Binding {
  readonly service: DescService;
  readonly methods: Readonly<Record<string, AnyMethod>>;
}

export function bind<S extends DescService>(service: S, implementation: Implementation<S>): Binding {
  return { service, methods: implementation };
}
