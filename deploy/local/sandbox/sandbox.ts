import { announcer } from './callbacks.ts';
import { wallClock, type Clock, type SandboxTime } from './sandbox-clock.ts';
import { resumeTasks } from './creation/accept-order.ts';
import { close, httpServer, listen } from './http/sandbox-server.ts';
import { renderInWorker } from './render/render-queue.ts';
import { renderQueue, type Render } from './render/render-queue.ts';
import { route } from './routes/route-request.ts';
import type { SandboxParts } from './sandbox-parts.ts';
import { newSignedLinks } from './signed-link.ts';
import { taskBook, type TaskBook } from './task-book.ts';
import { memoryTaskStore, openTaskStore } from './sandbox-task-store.ts';
import type { LinkMaker } from './wire-task.ts';

export type SandboxOptions = {
  /** `host:port`. Port 0 takes any free one. */
  readonly listen: string;
  readonly key: string;
  readonly clock?: Clock;
  /** The start of result links if it is not the listening address: a host, or a whole `https://…`. */
  readonly publicHost?: string;
  /** Replaces the rendering thread in tests that do not need pictures. */
  readonly render?: Render;
  /** The folder in which its tasks outlive the process, undefined if they do not. */
  readonly folder?: string;
  readonly report?: (fault: unknown) => void;
};

export type Sandbox = { readonly url: string; stop(): Promise<void> };

/** Starts the sandbox. After `stop` no socket, timer or thread of it is left. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { listen: address, key, clock = wallClock, publicHost, render = renderInWorker, folder } = options;
  const stopping = new AbortController();
  // a stop cuts the connections, so the faults of running requests are not reported
  const report = (fault: unknown): void => {
    if (!stopping.signal.aborted) (options.report ?? warn)(fault);
  };
  const store = folder === undefined ? memoryTaskStore() : await openTaskStore(folder);
  const book = taskBook({ now: () => clock.now(), store, report });
  const server = httpServer((request) => route(request, key, parts), report);
  const bound = await listen(server, address).catch(async (fault: unknown) => {
    await store.close();
    throw fault;
  });
  const base = baseUrl(publicHost ?? bound);
  const parts = sandboxParts({
    base,
    clock,
    render,
    report,
    stopped: stopping.signal,
    book,
    linkSecret: store.linkSecret,
  });
  resumeTasks(parts);
  return {
    url: baseUrl(bound),
    stop: async () => {
      stopping.abort();
      parts.announcer.stop();
      await Promise.all([close(server), parts.renders.idle()]);
      await store.close();
    },
  };
}

type Wiring = SandboxTime & {
  readonly book: TaskBook;
  readonly report: SandboxParts['report'];

  readonly base: string;
  readonly render: Render;
  readonly linkSecret: string;
};

function sandboxParts({ base, clock, render, report, stopped, book, linkSecret }: Wiring): SandboxParts {
  const links = newSignedLinks({ base, now: () => clock.now(), secret: linkSecret });
  const linkTo: LinkMaker = (task) => links.make(task.id);
  return {
    clock,
    book,
    links,
    linkTo,
    stopped,
    report,
    renders: renderQueue(render, stopped),
    announcer: announcer({ clock, book, linkTo, stopped }),
    refusedOnce: new Set(),
  };
}

function warn(fault: unknown): void {
  process.emitWarning(fault instanceof Error ? fault : String(fault));
}

function baseUrl(host: string): string {
  return host.includes('://') ? host.replace(/\/$/, '') : `http://${host}`;
}
