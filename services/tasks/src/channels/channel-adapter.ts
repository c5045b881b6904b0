import type {
  Adapter,
  Callbacks,
  Calls,
  ChannelFacts,
  Steps,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';

/** A value that a built-in adapter returns at once, and the adapter of an operator from its sandbox. */
export type Eventual<T> = T | Promise<T>;

export interface EventualSteps<Result> {
  next(...answer: [] | [UpstreamAnswer]): Eventual<IteratorResult<UpstreamRequest, Result>>;
}

type Eventually<Call> = Call extends (...args: infer Args) => Steps<infer Result>
  ? (...args: Args) => EventualSteps<Result>
  : Call extends (...args: infer Args) => infer Result
    ? (...args: Args) => Eventual<Result>
    : Call;

/** The operations of a channel, as its adapter has them. Only a built-in one lists the extra fields of an order. */
export type ChannelCalls = {
  readonly [Name in keyof Calls]: Name extends 'listExtra' ? Calls[Name] : Eventually<Calls[Name]>;
};

/** An adapter as channels use it: an `Adapter` of the kit, or one of an operator in its sandbox. */
export type ChannelAdapter = Omit<Adapter, 'openCalls' | 'callbacks'> & {
  readonly callbacks?: { readonly [Name in keyof Callbacks]: Eventually<Callbacks[Name]> } | undefined;
  readonly openCalls: (facts: ChannelFacts) => ChannelCalls;
  /** If set, it ends before `openCalls` gets the same facts. It rejects if the adapter refuses them. */
  readonly prepare?: (facts: ChannelFacts) => Promise<void>;
};

/** The name of the host that serves the public keys of an upstream. */
export const KEYS_HOST = 'keys';

/** Returns the further hosts of an adapter by their names, including the host of its public keys. */
export function listHosts({ hosts, callbacks }: ChannelAdapter): Readonly<Record<string, string>> {
  const { signature } = callbacks ?? {};
  return { ...hosts, ...(signature?.form === 'ed25519' ? { [KEYS_HOST]: new URL(signature.keys).origin } : {}) };
}

/** Reports whether an upstream signs its callbacks with a secret that it shares with the channel. */
export function signsWithSecret({ callbacks }: ChannelAdapter): boolean {
  const form = callbacks?.signature?.form;
  return form !== undefined && form !== 'ed25519';
}
