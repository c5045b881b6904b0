import type { ConcreteRatio, Resolution } from './render/frame-format.ts';

export type Kind = 'generation' | 'regeneration' | 'h3_context_ir';

export type MediaRole =
  'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio' | 'base_video';
export type MediaForm = 'image' | 'video' | 'audio';
export type MediaItem = { readonly form: MediaForm; readonly role: MediaRole; readonly url: string };

/** A create body after validation, with its defaults. */
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

/** The part of a draft that its task keeps. It holds the count and length of media, never their bytes (up to 64 MB). */
export type Order = OrderFacts & {
  readonly kind: Kind;
  readonly model: string;
  readonly resolution: Resolution | undefined;
  readonly callbackUrl: string | undefined;
};

/** The part of its source task that a regeneration takes over. */
export type OrderFacts = VideoShape & {
  readonly text: string;
  readonly roles: readonly MediaRole[];
  readonly inputSeconds: number;
  readonly inputAudioSeconds: number;
};

export type VideoShape = { readonly duration: number; readonly ratio: ConcreteRatio };

/** The ratio that `adaptive` stands for, because the sandbox does not read images. */
export const adaptiveRatio: ConcreteRatio = '16:9';
