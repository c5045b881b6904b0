import type { ConcreteRatio, Resolution } from './render/frame-format.ts';

export type Kind = 'generation' | 'regeneration' | 'h3_context_ir';

export type MediaRole =
  'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio' | 'base_video';
export type MediaForm = 'image' | 'video' | 'audio';
export type MediaItem = { readonly form: MediaForm; readonly role: MediaRole; readonly url: string };

/** A create body after validation, its defaults filled in. */
export type Draft = {
  readonly kind: Kind;
  readonly model: string;
  readonly text: string;
  readonly media: readonly MediaItem[];
  readonly resolution: Resolution | undefined;
  readonly duration: number | undefined;
  readonly ratio: ConcreteRatio | 'adaptive' | undefined;
  readonly sourceTaskId: string | undefined;
  readonly callbackUrl: string | undefined;
};

/** What a task keeps of its draft: media are counted and measured, never kept (a body may have 64 MB). */
export type Order = {
  readonly kind: Kind;
  readonly model: string;
  readonly text: string;
  readonly roles: readonly MediaRole[];
  readonly resolution: Resolution | undefined;
  readonly duration: number;
  readonly ratio: ConcreteRatio;
  readonly inputSeconds: number;
  readonly inputAudioSeconds: number;
  readonly callbackUrl: string | undefined;
};

/** What the adaptive ratio comes to: the sandbox does not look into pictures. */
export const adaptiveRatio: ConcreteRatio = '16:9';
