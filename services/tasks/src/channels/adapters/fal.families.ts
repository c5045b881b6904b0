import type { FalEndpoint, FalModel } from './fal.models.ts';

/** The common parts of the endpoints of a family. */
type Family = Omit<FalEndpoint, 'path' | 'fields'>;

const SOUND = 'generate_audio';
const CHECKER = 'enable_safety_checker';
const WITH_SOUND = { [SOUND]: true };
const FRAMED = { duration: 'duration', resolution: 'resolution', ratio: 'aspect_ratio' };
const { ratio: _ratio, ...SIZED } = FRAMED;
const TIMED = { duration: 'duration' };
const TIMED_FRAMED = { duration: 'duration', ratio: 'aspect_ratio' };

/** The documentation of Veo limits references to three; the documentation of this API does not. */
const VEO_IMAGES_MAX = 3;

const VEO: Family = {
  seconds: [4, 6, 8],
  durationAs: 'text with s',
  resolutions: ['720p', '1080p'],
  ratios: ['16:9', '9:16'],
  extra: ['negative_prompt', 'seed', SOUND, 'safety_tolerance'],
  fixed: WITH_SOUND,
};
const VEO_4K: Family = { ...VEO, resolutions: ['720p', '1080p', '4k'] };

function toVeo(bothFrames: Family): FalModel {
  return {
    text: { ...VEO, path: '', fields: FRAMED },
    frame: {
      ...VEO,
      path: '/image-to-video',
      frames: 'first',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'image_url' },
    },
    bothFrames: {
      ...bothFrames,
      path: '/first-last-frame-to-video',
      frames: 'first and last',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'first_frame_url', last: 'last_frame_url' },
    },
  };
}

const KLING_RATIOS = ['16:9', '9:16', '1:1'];
const KLING_3: Family = {
  seconds: { least: 3, most: 15 },
  extra: ['negative_prompt', 'cfg_scale', SOUND],
  fixed: WITH_SOUND,
};
const KLING_O3: Family = { ...KLING_3, extra: [SOUND] };
/** Four references in all. */
const KLING_IMAGES_MAX = 4;

const KLING_V3: FalModel = {
  text: { ...KLING_3, path: '/text-to-video', ratios: KLING_RATIOS, fields: TIMED_FRAMED },
  frame: {
    ...KLING_3,
    path: '/image-to-video',
    frames: 'first and last',
    fields: { ...TIMED, first: 'start_image_url', last: 'end_image_url' },
  },
};
const KLING_VO3: FalModel = {
  text: { ...KLING_O3, path: '/text-to-video', ratios: KLING_RATIOS, fields: TIMED_FRAMED },
  frame: {
    ...KLING_O3,
    path: '/image-to-video',
    frames: 'first and last',
    fields: { ...TIMED, first: 'image_url', last: 'end_image_url' },
  },
  references: {
    ...KLING_O3,
    path: '/reference-to-video',
    ratios: KLING_RATIOS,
    images: KLING_IMAGES_MAX,
    fields: { ...TIMED_FRAMED, images: 'image_urls' },
  },
};
const KLING_2: Family = { seconds: [5, 10], extra: ['negative_prompt', 'cfg_scale'] };

/** The model has one frame. It follows the image, or is 16:9. */
const HAILUO: Family = { seconds: [6, 10], resolutions: ['768p'], extra: ['prompt_optimizer'] };
/** The endpoints of `pro` have no length. */
const HAILUO_PRO: Family = { seconds: [6], resolutions: ['1080p'], extra: ['prompt_optimizer'] };

const SEEDANCE: Family = {
  seconds: { least: 4, most: 12 },
  resolutions: ['480p', '720p', '1080p'],
  ratios: ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
  adaptive: 'auto',
  extra: ['seed', 'camera_fixed', SOUND, CHECKER],
  fixed: WITH_SOUND,
};
const SEEDANCE_1: Family = {
  ...SEEDANCE,
  seconds: { least: 2, most: 12 },
  extra: ['seed', 'camera_fixed', CHECKER],
  fixed: undefined,
};

/** The endpoint for text knows no `auto`, and renders 16:9 without a ratio. */
const SEEDANCE_1_TEXT: Family = { ...SEEDANCE_1, adaptive: undefined };

const toSeedance = (family: Family, frames: 'first' | 'first and last', ofText: Family = family): FalModel => ({
  text: { ...ofText, path: '/text-to-video', fields: FRAMED },
  frame: {
    ...family,
    path: '/image-to-video',
    frames,
    fields: { ...FRAMED, first: 'image_url', ...(frames === 'first' ? {} : { last: 'end_image_url' }) },
  },
});

const WAN: Family = {
  seconds: { least: 2, most: 15 },
  resolutions: ['720p', '1080p'],
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
  promptMax: 5000,
  extra: ['negative_prompt', 'seed', CHECKER],
};
const WAN_26: Family = { ...WAN, seconds: [5, 10, 15], promptMax: undefined };
/** The documentation of Wan limits references to five; the documentation of this API does not. */
const WAN_REFERENCES_MAX = 5;
const WAN_26_VIDEOS_MAX = 3;

const LTX: Family = {
  seconds: [6, 8, 10],
  resolutions: ['1080p', '1440p', '2160p'],
  ratios: ['16:9'],
  extra: [SOUND],
  fixed: WITH_SOUND,
};
const LTX_23: Family = { ...LTX, ratios: ['16:9', '9:16'] };

const toLtx23 = (variant: string): FalModel => ({
  base: 'fal-ai/ltx-2.3',
  text: { ...LTX_23, path: `/text-to-video${variant}`, fields: FRAMED },
  frame: {
    ...LTX_23,
    path: `/image-to-video${variant}`,
    frames: 'first and last',
    adaptive: 'auto',
    fields: { ...FRAMED, first: 'image_url', last: 'end_image_url' },
  },
});

const toSora = (variant: string, resolutions: readonly string[]): FalModel => {
  const family: Family = {
    seconds: [4, 8, 12, 16, 20],
    resolutions,
    ratios: ['16:9', '9:16'],
    extra: ['detect_and_block_ip'],
  };
  return {
    base: 'fal-ai/sora-2',
    text: { ...family, path: `/text-to-video${variant}`, fields: FRAMED },
    frame: {
      ...family,
      path: `/image-to-video${variant}`,
      frames: 'first',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'image_url' },
    },
  };
};

const PIXVERSE: Family = {
  seconds: { least: 1, most: 15 },
  durationAs: 'number',
  resolutions: ['360p', '540p', '720p', '1080p'],
  ratios: ['16:9', '4:3', '1:1', '3:4', '9:16', '2:3', '3:2', '21:9'],
  extra: ['negative_prompt', 'seed', SOUND],
  soundField: 'generate_audio_switch',
  fixed: { generate_audio_switch: true },
};

const RAY: Family = {
  seconds: [5, 9],
  durationAs: 'text with s',
  resolutions: ['540p', '720p', '1080p'],
  ratios: ['16:9', '9:16', '4:3', '3:4', '21:9', '9:21'],
};
const RAY_2: FalModel = {
  text: { ...RAY, path: '', fields: FRAMED },
  frame: {
    ...RAY,
    path: '/image-to-video',
    frames: 'first and last',
    fields: { ...FRAMED, first: 'image_url', last: 'end_image_url' },
  },
};

const PIKA: Family = { seconds: [5, 10], resolutions: ['720p', '1080p'], extra: ['negative_prompt', 'seed'] };

const VIDU: Family = {
  seconds: { least: 1, most: 16 },
  durationAs: 'number',
  resolutions: ['360p', '540p', '720p', '1080p'],
  extra: ['seed', SOUND],
  soundField: 'audio',
  fixed: { audio: true },
};
const toVidu = (variant: string): FalModel => ({
  base: 'fal-ai/vidu/q3',
  text: { ...VIDU, path: `/text-to-video${variant}`, ratios: ['16:9', '9:16', '4:3', '3:4', '1:1'], fields: FRAMED },
  frame: {
    ...VIDU,
    path: `/image-to-video${variant}`,
    frames: 'first and last',
    fields: { ...SIZED, first: 'image_url', last: 'end_image_url' },
  },
});

const GROK: Family = {
  seconds: { least: 1, most: 15 },
  durationAs: 'number',
  resolutions: ['480p', '720p'],
  ratios: ['16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16'],
};
const GROK_IMAGES_MAX = 7;

/** The models that this adapter supports, by their ids. */
export const FAL_MODELS: Readonly<Record<string, FalModel>> = {
  'fal-ai/veo3.1': {
    ...toVeo(VEO_4K),
    references: {
      ...VEO_4K,
      path: '/reference-to-video',
      images: VEO_IMAGES_MAX,
      extra: [SOUND, 'safety_tolerance'],
      fields: { ...FRAMED, images: 'image_urls' },
    },
  },
  'fal-ai/veo3.1/fast': toVeo(VEO_4K),
  'fal-ai/veo3.1/lite': toVeo(VEO),
  'fal-ai/kling-video/v3/pro': KLING_V3,
  'fal-ai/kling-video/v3/standard': KLING_V3,
  'fal-ai/kling-video/o3/pro': KLING_VO3,
  'fal-ai/kling-video/o3/standard': KLING_VO3,
  'fal-ai/kling-video/v2.6/pro': {
    text: {
      ...KLING_2,
      path: '/text-to-video',
      ratios: KLING_RATIOS,
      extra: ['negative_prompt', 'cfg_scale', SOUND],
      fixed: WITH_SOUND,
      fields: TIMED_FRAMED,
    },
    frame: {
      ...KLING_2,
      path: '/image-to-video',
      frames: 'first and last',
      extra: ['negative_prompt', SOUND],
      fixed: WITH_SOUND,
      fields: { ...TIMED, first: 'start_image_url', last: 'end_image_url' },
    },
  },
  'fal-ai/kling-video/v2.5-turbo/pro': {
    text: { ...KLING_2, path: '/text-to-video', ratios: KLING_RATIOS, fields: TIMED_FRAMED },
    frame: {
      ...KLING_2,
      path: '/image-to-video',
      frames: 'first and last',
      fields: { ...TIMED, first: 'image_url', last: 'tail_image_url' },
    },
  },
  'fal-ai/minimax/hailuo-2.3/standard': {
    text: { ...HAILUO, path: '/text-to-video', ratios: ['16:9'], fields: TIMED },
    frame: { ...HAILUO, path: '/image-to-video', frames: 'first', fields: { ...TIMED, first: 'image_url' } },
  },
  'fal-ai/minimax/hailuo-2.3/pro': {
    text: { ...HAILUO_PRO, path: '/text-to-video', ratios: ['16:9'], fields: {} },
    frame: { ...HAILUO_PRO, path: '/image-to-video', frames: 'first', fields: { first: 'image_url' } },
  },
  'fal-ai/minimax/hailuo-2.3-fast/standard': {
    frame: { ...HAILUO, path: '/image-to-video', frames: 'first', fields: { ...TIMED, first: 'image_url' } },
  },
  'fal-ai/bytedance/seedance/v1.5/pro': toSeedance(SEEDANCE, 'first and last'),
  'fal-ai/bytedance/seedance/v1/pro': toSeedance(SEEDANCE_1, 'first and last', SEEDANCE_1_TEXT),
  'fal-ai/bytedance/seedance/v1/pro/fast': toSeedance(SEEDANCE_1, 'first', SEEDANCE_1_TEXT),
  'fal-ai/wan/v2.7': {
    text: { ...WAN, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...WAN,
      path: '/image-to-video',
      frames: 'first and last',
      ratioFollowsFrame: true,
      fields: { ...SIZED, first: 'image_url', last: 'end_image_url' },
    },
    references: {
      ...WAN,
      path: '/reference-to-video',
      seconds: { least: 2, most: 10 },
      images: WAN_REFERENCES_MAX,
      videos: WAN_REFERENCES_MAX,
      fields: { ...FRAMED, images: 'reference_image_urls', videos: 'reference_video_urls' },
    },
  },
  'wan/v2.6': {
    text: { ...WAN_26, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...WAN_26,
      path: '/image-to-video',
      frames: 'first',
      ratioFollowsFrame: true,
      fields: { ...SIZED, first: 'image_url' },
    },
    references: {
      ...WAN_26,
      path: '/reference-to-video',
      seconds: [5, 10],
      videos: WAN_26_VIDEOS_MAX,
      fields: { ...FRAMED, videos: 'video_urls' },
    },
  },
  'fal-ai/ltx-2': {
    text: { ...LTX, path: '/text-to-video', fields: SIZED },
    frame: { ...LTX, path: '/image-to-video', frames: 'first', fields: { ...SIZED, first: 'image_url' } },
  },
  'fal-ai/ltx-2.3': toLtx23(''),
  'fal-ai/ltx-2.3/fast': toLtx23('/fast'),
  'fal-ai/sora-2': toSora('', ['720p']),
  'fal-ai/sora-2/pro': toSora('/pro', ['720p', '1080p']),
  'fal-ai/pixverse/v6': {
    text: { ...PIXVERSE, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...PIXVERSE,
      path: '/image-to-video',
      frames: 'first',
      ratioFollowsFrame: true,
      fields: { ...SIZED, first: 'image_url' },
    },
    bothFrames: {
      ...PIXVERSE,
      path: '/transition',
      frames: 'first and last',
      fields: { ...FRAMED, first: 'first_image_url', last: 'end_image_url' },
    },
  },
  'fal-ai/luma-dream-machine/ray-2': RAY_2,
  'fal-ai/luma-dream-machine/ray-2-flash': RAY_2,
  'fal-ai/pika/v2.2': {
    text: {
      ...PIKA,
      path: '/text-to-video',
      ratios: ['16:9', '9:16', '1:1', '4:5', '5:4', '3:2', '2:3'],
      fields: FRAMED,
    },
    frame: { ...PIKA, path: '/image-to-video', frames: 'first', fields: { ...SIZED, first: 'image_url' } },
  },
  'fal-ai/vidu/q3': toVidu(''),
  'fal-ai/vidu/q3/turbo': toVidu('/turbo'),
  'xai/grok-imagine-video': {
    text: { ...GROK, path: '/text-to-video', fields: FRAMED },
    frame: {
      ...GROK,
      path: '/image-to-video',
      frames: 'first',
      adaptive: 'auto',
      fields: { ...FRAMED, first: 'image_url' },
    },
    references: {
      ...GROK,
      path: '/reference-to-video',
      seconds: { least: 1, most: 10 },
      images: GROK_IMAGES_MAX,
      fields: { ...FRAMED, images: 'reference_image_urls' },
    },
  },
};
