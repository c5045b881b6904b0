export const V1 = '/v1/videos';
export const GENERATIONS = '/v1/video/generations';
export const GENERATION = '/v2/video_generation';
export const REGENERATION = '/v2/video_regeneration';
export const CONTEXT_IR = '/v2/h3_context_ir';
export const QUERY = '/v2/query/video_generation';
/** An unknown task in the form of an id. */
export const UNKNOWN = 'task_00000000000000000000000000';

export const text = (words = 'a red boat'): object => ({ type: 'text', text: words });
export const image = (role?: string, url = '{{media}}/image.png'): object => ({
  type: 'image_url',
  ...(role === undefined ? {} : { role }),
  image_url: { url },
});
export const video = (role?: string, url = '{{media}}/768p.mp4'): object => ({
  type: 'video_url',
  ...(role === undefined ? {} : { role }),
  video_url: { url },
});
export const sound = (role?: string, url = '{{media}}/audio.mp3'): object => ({
  type: 'audio_url',
  ...(role === undefined ? {} : { role }),
  audio_url: { url },
});
export const several = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
/** One code point that is two units of UTF-16. */
export const ASTRAL = '\u{1F600}';

export const compat = (over: object = {}): object => ({
  model: 'Alpha-H3',
  prompt: 'a red boat',
  seconds: '4',
  size: '1280x720',
  ...over,
});
/** The compatibility body with its prompt in its content. */
export const compatContent = (content: readonly object[], over: object = {}): object => ({
  model: 'Alpha-H3',
  seconds: '4',
  content,
  ...over,
});
export const generations = (over: object = {}): object => ({
  model: 'Alpha-H3',
  prompt: 'a red boat',
  duration: 4,
  ...over,
});
export const generation = (over: object = {}, words = 'a red boat'): object => ({
  model: 'Alpha-H3',
  content: [text(words)],
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
  ...over,
});
export const contextIr = (over: object = {}, words = 'a red boat'): object => ({
  model: 'Alpha-H3',
  content: [text(words)],
  duration: 4,
  ratio: '16:9',
  ...over,
});
export const byTask = (over: object = {}): object => ({
  model: 'Alpha-H3',
  resolution: '2K',
  source_task_id: UNKNOWN,
  ...over,
});
export const byVideo = (over: object = {}): object => ({
  model: 'Alpha-H3',
  resolution: '2K',
  content: [text(), video('base_video')],
  ...over,
});
/** The body without some of its fields. */
export const without = (body: object, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
