/** A call across a port: `store.begin`, `billing.placeHold`, `main.submit`, … */
export interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** Intercepts a call; `proceed` carries it out. */
export type Around = (call: Call, proceed: () => Promise<unknown>) => Promise<unknown>;

/** Records every call across every port, in order, and lets a test intercept the calls. */
export interface Journal {
  readonly calls: readonly Call[];
  names(): string[];
  clear(): void;
  /** From now on every call passes through this. */
  put(around: Around): void;
  /** The next `times` calls of this name fail without being carried out. */
  fail(name: string, error: unknown, times?: number): void;
  run(call: Call, proceed: () => Promise<unknown>): Promise<unknown>;
}

export function newJournal(): Journal {
  const calls: Call[] = [];
  const failures: { name: string; error: unknown; left: number }[] = [];
  let around: Around = (_call, proceed) => proceed();
  return {
    calls,
    names: () => calls.map(({ name }) => name),
    clear: () => {
      calls.length = 0;
    },
    put: (next) => {
      around = next;
    },
    fail: (name, error, times = 1) => {
      failures.push({ name, error, left: times });
    },
    run: async (call, proceed) => {
      calls.push(call);
      const failure = failures.find(({ name, left }) => name === call.name && left > 0);
      if (failure === undefined) return around(call, proceed);
      failure.left -= 1;
      throw failure.error;
    },
  };
}

/** The same port, with every call recorded in the journal under the name of the port. */
export function recorded<T extends object>(seam: string, port: T, journal: Journal): T {
  return new Proxy(port, {
    get: (target, property): unknown => {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown =>
        journal.run({ name: `${seam}.${String(property)}`, args }, async () =>
          (value as (...all: unknown[]) => unknown).apply(target, args),
        );
    },
  });
}
