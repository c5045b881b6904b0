import type { HttpAnswer, HttpOrder } from './simulated-http.ts';
import { readMembers } from './world.ts';

/** An order of a client, whatever the dialect. */
export interface ClientOrder {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly ratio: string;
  /** The address of a picture that the video begins with; undefined: none. */
  readonly picture: string | undefined;
  readonly webhookUrl: string | undefined;
  /** The most that it may cost, in US dollars; undefined: any price. Not every dialect has it. */
  readonly maxAmount: string | undefined;
}

/** A task as a client sees it. */
export interface SeenTask {
  readonly id: string;
  readonly status: string;
  readonly error: string;
}

/** The words of one dialect for creates and reads. */
export interface ClientDialect {
  readonly name: string;
  /** True if an order can have a bound of its price. */
  readonly hasMaxAmount: boolean;
  create(order: ClientOrder): Pick<HttpOrder, 'path' | 'body'>;
  read(taskId: string): string;
}

const picturePart = (order: ClientOrder): readonly object[] =>
  order.picture === undefined ? [] : [{ type: 'image_url', image_url: { url: order.picture }, role: 'first_frame' }];

const flatOrder = ({ model, prompt, seconds, resolution, ratio, webhookUrl, maxAmount }: ClientOrder): object => ({
  ...{ model, prompt, seconds: String(seconds), resolution, ratio },
  ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
  ...(maxAmount === undefined ? {} : { max_amount: maxAmount, currency: 'USD' }),
});

export const CLIENT_DIALECTS: readonly ClientDialect[] = [
  {
    name: 'openai',
    hasMaxAmount: true,
    create: (order) => ({
      path: '/v1/videos',
      body: { ...flatOrder(order), ...(order.picture === undefined ? {} : { content: picturePart(order) }) },
    }),
    read: (taskId) => `/v1/videos/${taskId}`,
  },
  {
    name: 'vendor',
    hasMaxAmount: false,
    create: (order) => ({
      path: '/v2/video_generation',
      body: {
        ...{ model: order.model, duration: order.seconds, resolution: order.resolution, ratio: order.ratio },
        content: [{ type: 'text', text: order.prompt }, ...picturePart(order)],
      },
    }),
    read: (taskId) => `/v2/query/video_generation/${taskId}`,
  },
  {
    name: 'generations',
    hasMaxAmount: true,
    create: (order) => ({
      path: '/v1/video/generations',
      body: { ...flatOrder(order), ...(order.picture === undefined ? {} : { content: picturePart(order) }) },
    }),
    read: (taskId) => `/v1/video/generations/${taskId}`,
  },
];

/** The members of a task in the answers of all dialects. */
interface AnsweredTask {
  readonly id?: string;
  readonly task_id?: string;
  readonly status?: string;
  readonly error?: object;
  readonly task?: { readonly error?: object };
}

/** Reads a task from the answer of a create or a read in any dialect. */
export function readSeenTask(answer: HttpAnswer): SeenTask {
  const { id, task_id: taskId, status, error, task } = readMembers(answer) as AnsweredTask;
  return {
    id: id ?? taskId ?? '',
    status: status ?? '',
    error: JSON.stringify(error ?? task?.error ?? ''),
  };
}

export function isFinal({ status }: SeenTask): boolean {
  return status === 'completed' || status === 'failed';
}
