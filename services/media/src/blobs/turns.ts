/** Lets so much work run at once; the rest waits in the order in which it came. */
export function openTurns(atOnceMax: number): { run<T>(work: () => Promise<T>): Promise<T> } {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running < atOnceMax) running += 1;
      else
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}
