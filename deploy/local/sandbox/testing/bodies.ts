/** Valid create bodies, with the changes of a test. */

export const png = 'data:image/png;base64,iVBORw0KGgo=';
const mp4 = 'data:video/mp4;base64,AAAAIGZ0eXA=';
export const mp3 = 'data:audio/mp3;base64,SUQzBAAAAAA=';

export function text(words = 'A fox in the snow'): object {
  return { type: 'text', text: words };
}

export function image(role?: string, url = png): object {
  return { type: 'image_url', image_url: { url }, ...(role === undefined ? {} : { role }) };
}

export function video(role?: string, url = mp4): object {
  return { type: 'video_url', video_url: { url }, ...(role === undefined ? {} : { role }) };
}

export function audio(role?: string, url = mp3): object {
  return { type: 'audio_url', audio_url: { url }, ...(role === undefined ? {} : { role }) };
}

export function aGeneration(change: object = {}): object {
  return { model: 'MiniMax-H3', content: [text()], resolution: '768P', duration: 5, ratio: '16:9', ...change };
}

export function aPrompt(words: string, change: object = {}): object {
  return aGeneration({ content: [text(words)], ...change });
}

export function aRegeneration(change: object = {}): object {
  return { model: 'MiniMax-H3', resolution: '2K', ...change };
}

export function aContextIr(change: object = {}): object {
  return { model: 'MiniMax-H3', content: [text()], duration: 5, ratio: '16:9', ...change };
}
