/** Does one piece of work. Returns its size, or undefined if none is left. */
export type Work = () => Promise<number>;

export interface Done {
  readonly done: number;
  readonly perSecond: number;
  /** Only of this process. */
  readonly cpuUs: number;
}

/** Keeps this many pieces of work under way for this time, or until none is left. */
export async function workFor(ms: number, work: Work, atOnce: number): Promise<Done> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let done = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let more = 1; more > 0 && performance.now() - start < ms; done += more) more = await work();
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { done, perSecond: (done * 1000) / (performance.now() - start), cpuUs: user + system };
}
