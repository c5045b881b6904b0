import type { TaskMoney } from './money.ts';
import type { TaskRow } from './tasks.ts';
import type { Delivery } from './webhooks.ts';

export type Step =
  | 'created'
  | 'prepared'
  | 'submitted'
  | 'queued'
  | 'in_progress'
  | 'checked'
  | 'fetched'
  | 'completed'
  | 'failed'
  | 'held'
  | 'settled'
  | 'webhook';

/** The party that acts in a step: this service, the upstream, money, or the client's receivers. */
export type Lane = 'service' | 'upstream' | 'money' | 'client';

export interface TimelineEntry {
  readonly lane: Lane;
  readonly step: Step;
  readonly from: number;
  /** Undefined while it lasts. Equal to `from` for an event without a duration. */
  readonly to?: number;
  /** A fact about it, such as an amount or the status of a receiver. */
  readonly detail?: string;
}

export interface Reference {
  /** first_frame, last_frame, reference_image, reference_video, reference_audio … as the dialects name it. */
  readonly role: string;
  readonly kind: 'image' | 'video' | 'audio';
  /** The URL in the order, undefined if the bytes came with the request. */
  readonly url?: string;
}

/** The same call as a program sends it. The token appears as `$REELGATE_API_KEY`. */
export interface SameCall {
  /** In the order of their tabs. A client that cannot express the order is left out. */
  readonly programs: readonly CallProgram[];
  /** True if media that came as bytes with the request are left out. */
  readonly isPartial: boolean;
}

/** A whole program: it creates the task, waits for its end, and saves the result. */
export interface CallProgram {
  readonly id: 'curl' | 'openai_node' | 'openai_python' | 'ai_sdk' | 'grpc_python';
  readonly text: string;
}

/** The place of a task that waits for its turn. */
export interface QueuePlace {
  /** The number of tasks of its own token that have their turns before it. */
  readonly position: number;
  readonly estimatedStartAt?: number;
  readonly since: number;
  /** Without a turn until then it fails. */
  readonly startBy: number;
  readonly class: 'interactive' | 'standard' | 'batch';
  readonly waitsFor: 'capacity' | 'own_limit' | 'scheduled';
}

/** GET /tasks/{taskId}: everything of one task, in one read. */
export interface TaskView {
  readonly task: TaskRow & {
    readonly updatedAt: number;
    /** The time until which the result is kept. */
    readonly expiresAt?: number;
    /** The whole prompt. */
    readonly fullPrompt: string;
    readonly tokenId: string;
    readonly tokenName: string;
    /** The request that created it, or undefined if it is not known. */
    readonly requestId?: string;
    readonly references: readonly Reference[];
    /** Further fields of the order, such as `seed`. */
    readonly settings: Readonly<Record<string, unknown>>;
    /** Set while it waits for its turn. */
    readonly queue?: QueuePlace;
  };
  /** Set when it completed with a video. */
  readonly video?: {
    /** An address below `/console/api`; it supports ranges. */
    readonly src: string;
    readonly thumbnail: string;
    readonly download: string;
    readonly bytes: number;
    readonly mediaType: string;
    readonly width: number;
    readonly height: number;
    readonly durationMs: number;
    readonly frameRate: number;
  };
  /** The enhanced prompt of a prompt enhancement. */
  readonly text?: string;
  readonly money?: TaskMoney;
  readonly timeline: readonly TimelineEntry[];
  readonly sameCall?: SameCall;
  /** Empty for a token without the right to read webhooks. */
  readonly deliveries: readonly Delivery[];
  /** The present answer of `GET /v1/videos/{id}`. */
  readonly raw: unknown;
  readonly canCancel: boolean;
  /** True if this model can render the video again. */
  readonly canRegenerate: boolean;
  /** The parts that could not be read now. The page shows the rest. */
  readonly unavailable: readonly ('money' | 'timeline' | 'deliveries')[];
  /** The clock of the service. */
  readonly now: number;
}
