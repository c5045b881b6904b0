import type { Order } from './order.ts';
import type { PictureOrder } from './render/picture-order.ts';
import type { Script } from './steering/script.ts';

/** Whether a task's video is there: its success waits for that. */
export type Picture =
  | { readonly state: 'unneeded' }
  | { readonly state: 'awaited'; readonly order: PictureOrder }
  | { readonly state: 'ready'; readonly order: PictureOrder; readonly at: number }
  | { readonly state: 'broken'; readonly at: number };

/** All that is known of a task. Its status is not kept: task-life.ts derives it from these facts and the time. */
export type Task = {
  readonly id: string;
  readonly order: Order;
  readonly script: Script;
  readonly createdAt: number;
  readonly picture: Picture;
  readonly cancelledAt: number | undefined;
  readonly reads: number;
};
