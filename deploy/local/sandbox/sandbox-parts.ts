import type { Announcer } from './callbacks.ts';
import type { SandboxTime } from './sandbox-clock.ts';
import type { RenderQueue } from './render/render-queue.ts';
import type { SignedLinks } from './signed-link.ts';
import type { TaskBook } from './task-book.ts';
import type { LinkMaker } from './wire-task.ts';

/** The parts of the sandbox that the routes use. */
export type SandboxParts = SandboxTime & {
  readonly book: TaskBook;
  readonly renders: RenderQueue;
  readonly announcer: Announcer;
  readonly links: SignedLinks;
  readonly linkTo: LinkMaker;
  /** Texts that `[refuse-once]` has already refused. */
  readonly refusedOnce: Set<string>;
  /** Receives the sandbox's own faults. Its clients see only the vendor's internal error. */
  readonly report: (fault: unknown) => void;
};
