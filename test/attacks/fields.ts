import { fixture } from '../../services/media/testing/origin.ts';

/** A request with one URL in one field. */
export interface Carrier {
  readonly target: string;
  readonly family: 'image' | 'video' | 'audio';
  body(url: string): object | FormData;
}

const PNG = `data:image/png;base64,${fixture('image.png').toString('base64')}`;
const TEXT = { type: 'text', text: 'a boat' };
const item = (family: Carrier['family'], role: string, url: string): object => ({
  type: `${family}_url`,
  role,
  [`${family}_url`]: { url },
});
const compat = (over: object): object => ({ model: 'Alpha-H3', seconds: '4', size: '1280x720', ...over });
const vendor = (content: readonly object[]): object => ({
  model: 'Alpha-H3',
  content: [TEXT, ...content],
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
});
const contextIr = (content: readonly object[]): object => ({
  model: 'Alpha-H3',
  content: [TEXT, ...content],
  duration: 4,
  ratio: '16:9',
});
const regeneration = (content: readonly object[]): object => ({
  model: 'Alpha-H3',
  resolution: '2K',
  content: [TEXT, ...content],
});

/** Each role of a content item, with the other items that its order needs. */
const ROLES = [
  ['first_frame', 'image', []],
  ['last_frame', 'image', []],
  ['reference_image', 'image', []],
  ['reference_video', 'video', []],
  ['reference_audio', 'audio', [item('image', 'reference_image', PNG)]],
] as const;
const DIALECTS = {
  '/v1/videos': (content: readonly object[]) => compat({ content: [TEXT, ...content] }),
  '/v1/video/generations': (content: readonly object[]) => compat({ content: [TEXT, ...content] }),
  '/v2/video_generation': vendor,
  '/v2/h3_context_ir': contextIr,
} as const;
type ContentField = `${keyof typeof DIALECTS} ${(typeof ROLES)[number][0]}`;

const CONTENT = Object.fromEntries(
  Object.entries(DIALECTS).flatMap(([target, order]) =>
    ROLES.map(([role, family, others]): [string, Carrier] => [
      `${target} ${role}`,
      { target, family, body: (url) => order([...others, item(family, role, url)]) },
    ]),
  ),
) as Record<ContentField, Carrier>;

const prompt = 'a boat';
const openrouter = (over: object): object => ({ model: 'Alpha-H3', prompt, duration: 4, ...over });
const atUrl = (family: Carrier['family'], url: string): object => ({
  type: `${family}_url`,
  [`${family}_url`]: { url },
});
const FLAT = {
  '/v1/videos input_reference': {
    target: '/v1/videos',
    family: 'image',
    body: (url) => compat({ prompt, input_reference: url }),
  },
  '/v1/videos input_reference.image_url': {
    target: '/v1/videos',
    family: 'image',
    body: (url) => compat({ prompt, input_reference: { image_url: url } }),
  },
  '/v1/videos form input_reference': {
    target: '/v1/videos',
    family: 'image',
    body: (url) => form({ prompt, input_reference: url }),
  },
  '/v1/videos form input_reference[image_url]': {
    target: '/v1/videos',
    family: 'image',
    body: (url) => form({ prompt, 'input_reference[image_url]': url }),
  },
  '/v1/video/generations image': {
    target: '/v1/video/generations',
    family: 'image',
    body: (url) => compat({ prompt, image: url }),
  },
  '/v1/video/generations images': {
    target: '/v1/video/generations',
    family: 'image',
    body: (url) => compat({ prompt, images: [url] }),
  },
  '/api/v1/videos frame_images': {
    target: '/api/v1/videos',
    family: 'image',
    body: (url) => openrouter({ frame_images: [{ ...atUrl('image', url), frame_type: 'first_frame' }] }),
  },
  '/api/v1/videos input_references image': {
    target: '/api/v1/videos',
    family: 'image',
    body: (url) => openrouter({ input_references: [atUrl('image', url)] }),
  },
  '/api/v1/videos input_references video': {
    target: '/api/v1/videos',
    family: 'video',
    body: (url) => openrouter({ input_references: [atUrl('video', url)] }),
  },
  '/api/v1/videos input_references audio': {
    target: '/api/v1/videos',
    family: 'audio',
    body: (url) => openrouter({ input_references: [atUrl('image', PNG), atUrl('audio', url)] }),
  },
  '/v1/videos base_video': {
    target: '/v1/videos',
    family: 'video',
    body: (url) => ({
      model: 'Alpha-H3',
      resolution: '2K',
      content: [TEXT, item('video', 'base_video', url)],
    }),
  },
  '/v2/video_regeneration base_video': {
    target: '/v2/video_regeneration',
    family: 'video',
    body: (url) => regeneration([item('video', 'base_video', url)]),
  },
  '/v2/video_regeneration reference_image': {
    target: '/v2/video_regeneration',
    family: 'image',
    body: (url) => regeneration([item('video', 'base_video', BASE), item('image', 'reference_image', url)]),
  },
} as const satisfies Readonly<Record<string, Carrier>>;

const BASE = `data:video/mp4;base64,${fixture('768p.mp4').toString('base64')}`;

function form(fields: Readonly<Record<string, string>>): FormData {
  const written = new FormData();
  for (const [name, value] of Object.entries(compat(fields))) written.append(name, value as string);
  return written;
}

export type FieldName = ContentField | keyof typeof FLAT;
/** Every field of a create that can hold the address of a medium. */
export const FIELDS: Readonly<Record<FieldName, Carrier>> = { ...CONTENT, ...FLAT };
export const FIELD_NAMES = Object.keys(FIELDS) as readonly FieldName[];
/** The fields whose orders hold one picture and no other medium. */
export const PICTURE_FIELDS = FIELD_NAMES.filter(
  (name) => FIELDS[name].family === 'image' && !name.startsWith('/v2/video_regeneration'),
);
