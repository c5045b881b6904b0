/**
 * A seed that once broke a rule. It runs with each change, and must hold every rule. A seed protects against its fault as
 * long as the choices keep their names. The runs of the seeds that were mended before 2026-12-01 are others by now,
 * because the choices of syncs, timers, calls and crashes were named by their number in the run: these seeds stay as runs
 * that hold every rule, and their causes as a record.
 */
export interface KeptSeed {
  readonly seed: number;
  /** What the shrunk run did without, as `--without` takes it. */
  readonly without: readonly string[];
  /** The rule that it broke. */
  readonly rule: string;
  /** What went wrong, and why. */
  readonly cause: string;
  /** The day on which the cause was mended. */
  readonly mendedOn: string;
}

/** Every seed that found a fault of the product. A fault that is found adds its line, and no line is removed. */
export const KEPT_SEEDS: readonly KeptSeed[] = [
  {
    seed: 30_615,
    without: [
      'crash at start,failed sync,full disk at a write,uncertain commit,scattered pages,cut checkpoint',
      'refused connection,reset before the request,bad gateway after the request,content refusal',
      'page instead of JSON,success without URL,late knowledge,failing work,media away,server away',
      'lost bus answer,lost announcement,late announcement,doubled announcement,receiver hangs,receiver fails',
      'aim at work 5,aim at line 35,aim at line 46,aim at line 47,aim at line 108,aim at line 330',
      'operator pause,operator revoke,operator credit,operator limit,operator endpoint,operator reload 1',
      'operator reload 2,operator reload 3,call-0,call-1,call-2,call-3,call-4,call-5,stream,order-0,order-1',
      'order-2,order-3,order-4,order-5,order-6,order-7,order-8,order-9,order-10,order-11,order-12,order-13',
      'order-14,order-15,order-16,order-17,order-18,order-19,order-20,order-21,order-22,order-23,order-25',
      'order-27,order-28,order-29,order-30,order-31,order-32,order-33,order-34,order-35,order-36,order-37',
      'order-38,order-39,order-40',
    ].flatMap((names) => names.split(',')),
    rule: 'a completed task is charged its seconds times the price',
    cause:
      'The answers of two orders were lost. A callback of the younger one named the work of the older one. The list was ' +
      'read from the create of the younger task on, so it did not show that work, and the task adopted it.',
    mendedOn: '2026-11-26',
  },
  {
    seed: 80_930,
    without: [
      'power cut,slow sync,failed sync,full disk,full disk at a write,uncertain commit,scattered pages,cut checkpoint',
      'lost work,receiver hangs,crash 1,crash 2,crash 3,crash 4,crash 5,crash 6,crash of boot 3,crash of boot 5',
      'operator pause,operator revoke,operator credit,operator limit,operator endpoint,operator hold,operator weight',
      'operator withdrawal,operator reload 1,operator reload 2,operator reload 3',
    ].flatMap((names) => names.split(',')),
    rule: 'a key with another body is refused',
    cause:
      'Another process took a create over before its task could wait. The create found its task between the two steps ' +
      'of that process, and answered that it was queued. Then the other process refused it, and its key was free.',
    mendedOn: '2026-11-26',
  },
  {
    seed: 257,
    without: [],
    rule: 'a task has the work of its own order',
    cause:
      'The clock of one of three processes was 19 minutes ahead. It lost the answer of an order, and its task seemed to ' +
      'be 19 minutes younger than its work. Another process had lost an equal order, so that one adopted the work.',
    mendedOn: '2026-11-27',
  },
  {
    seed: 171152,
    without: [],
    rule: 'a task has the work of its own order',
    cause:
      'As with seed 257, but the process that adopted the work started after the clocks were right again, and nothing ' +
      'stored told it that they had not been.',
    mendedOn: '2026-11-27',
  },
  {
    seed: 191811,
    without: [],
    rule: 'every task ends and is settled, or waits for a person',
    cause:
      'The heartbeats of a process hung while its polls went on. Another process took it for dead and freed its leases. ' +
      'It leased one more task before it died, and that lease ended a quarter of an hour later.',
    mendedOn: '2026-11-27',
  },
];
