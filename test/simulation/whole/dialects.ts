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
  /** The address of a reference video. Undefined if the order has none; an order with a picture has none. */
  readonly video: string | undefined;
  readonly webhookUrl: string | undefined;
  /** The most that it may cost, in US dollars; undefined: any price. Not every dialect has it. */
  readonly maxAmount: string | undefined;
}

/** A task as a client sees it. */
export interface SeenTask {
  readonly id: string;
  readonly status: string;
  readonly error: string;
  /** Undefined if the answer has no label, which is so in every dialect but one. */
  readonly label: string | undefined;
  /** What the client was charged, as a decimal. Undefined if the answer does not say. */
  readonly charged: string | undefined;
}

/** The words of one dialect for creates and reads. */
export interface ClientDialect {
  readonly name: 'openai' | 'vendor' | 'generations' | 'openrouter';
  /** True if an order can have a bound of its price. */
  readonly hasMaxAmount: boolean;
  create(order: ClientOrder): Pick<HttpOrder, 'path' | 'body'>;
  read(taskId: string): string;
}

const pictureParts = (url: string | undefined) =>
  url === undefined ? [] : [{ type: 'image_url', image_url: { url }, role: 'first_frame' }];
const videoParts = (url: string | undefined) =>
  url === undefined ? [] : [{ type: 'video_url', video_url: { url }, role: 'reference_video' }];
const listMedia = ({ picture, video }: Pick<ClientOrder, 'picture' | 'video'>): readonly object[] => [
  ...pictureParts(picture),
  ...videoParts(video),
];

/** The fields that have the same name in all flat dialects. */
const namedFields = ({
  model,
  prompt,
  resolution,
  webhookUrl,
  maxAmount,
}: Pick<ClientOrder, 'model' | 'prompt' | 'resolution' | 'webhookUrl' | 'maxAmount'>): object => ({
  ...{ model, prompt, resolution },
  ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
  ...(maxAmount === undefined ? {} : { max_amount: maxAmount, currency: 'USD' }),
});

const flatOrder = (order: ClientOrder): object => {
  const content = listMedia(order);
  return {
    ...{ ...namedFields(order), seconds: String(order.seconds), ratio: order.ratio },
    ...(content.length === 0 ? {} : { content }),
  };
};

export const CLIENT_DIALECTS: readonly ClientDialect[] = [
  {
    name: 'openai',
    hasMaxAmount: true,
    create: (order) => ({
      path: '/v1/videos',
      body: flatOrder(order),
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
        content: [{ type: 'text', text: order.prompt }, ...listMedia(order)],
      },
    }),
    read: (taskId) => `/v2/query/video_generation/${taskId}`,
  },
  {
    name: 'generations',
    hasMaxAmount: true,
    create: (order) => ({
      path: '/v1/video/generations',
      body: flatOrder(order),
    }),
    read: (taskId) => `/v1/video/generations/${taskId}`,
  },
  {
    name: 'openrouter',
    hasMaxAmount: true,
    create: ({ seconds, ratio, picture, video, ...order }) => ({
      path: '/api/v1/videos',
      body: {
        ...namedFields(order),
        ...{ duration: seconds, aspect_ratio: ratio },
        frame_images: pictureParts(picture).map(({ role, ...part }) => ({ ...part, frame_type: role })),
        ...(video === undefined ? {} : { input_references: videoParts(video).map(({ role: _, ...part }) => part) }),
      },
    }),
    read: (taskId) => `/api/v1/videos/${taskId}`,
  },
];

/** The state of the other dialects for which a dialect has a word of its own. */
const SAME_STATES: Readonly<Record<string, string>> = { cancelled: 'failed' };

/** The members of a task in the answers of all dialects. */
interface AnsweredTask {
  readonly id?: string;
  readonly task_id?: string;
  readonly status?: string;
  readonly error?: object | string;
  readonly label?: string;
  readonly charge?: { readonly state: string; readonly amount: string };
  readonly task?: { readonly error?: object };
}

/** Reads a task from the answer of a create or a read in any dialect. */
export function readSeenTask(answer: HttpAnswer): SeenTask {
  const { id, task_id: taskId, status, error, task, label, charge } = readMembers(answer) as AnsweredTask;
  return {
    id: id ?? taskId ?? '',
    status: SAME_STATES[status ?? ''] ?? status ?? '',
    error: JSON.stringify(error ?? task?.error ?? ''),
    label,
    charged: charge?.state === 'charged' ? charge.amount : undefined,
  };
}

export function isFinal({ status }: SeenTask): boolean {
  return status === 'completed' || status === 'failed';
}
