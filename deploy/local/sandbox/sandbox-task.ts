import type { Order } from './vendor-order.ts';
import type { PictureOrder } from './render/picture-order.ts';
import type { Script } from './steering/script.ts';

/** The state of a task's video. The task succeeds only once the video is ready. */
export type Picture =
  | { readonly state: 'unneeded' }
  | { readonly state: 'awaited'; readonly order: PictureOrder }
  | { readonly state: 'ready'; readonly order: PictureOrder; readonly at: number }
  | { readonly state: 'broken'; readonly at: number };

/** The stored facts of a task. Its status is not stored: task-life.ts derives it from these facts and the time. */
export type Task = {
  readonly id: string;
  readonly order: Order;
  readonly script: Script;
  readonly createdAt: number;
  readonly picture: Picture;
  readonly cancelledAt: number | undefined;
  /** The number of reads that had the fault that its script asks for. */
  readonly reads: number;
  /** The last status that was sent to its callback address, undefined if there was none. */
  readonly sentStatus?: string;
};
