import { frameCount, framesPerSecond } from './frame-format.ts';
import { promptShare, type PictureOrder } from './picture-order.ts';

export const samplesPerSecond = 32_000;
export const channels = 2;

const framesPerPacket = 1024;
const notesPerSecond = 2;
const loudness = 0.12;
const rootHertz = 165;
const scale = [0, 3, 5, 7, 10, 12]; // a minor pentatonic, in semitones

/** A soft tune that the prompt determines: interleaved stereo, one plucked note every half second. */
export function composeTune(order: PictureOrder): Float32Array<ArrayBuffer> {
  const length = tuneLength(order.seconds);
  const samples = new Float32Array(length * channels);
  const noteLength = samplesPerSecond / notesPerSecond;
  for (let start = 0; start < length; start += noteLength) {
    pluck(samples.subarray(start * channels, (start + noteLength) * channels), start / noteLength, order.prompt);
  }
  return samples;
}

function pluck(samples: Float32Array, note: number, prompt: string): void {
  const root = rootHertz * 2 ** promptShare(prompt, 1);
  const step = scale[Math.floor(promptShare(prompt, 2 + (note % 30)) * scale.length)] ?? 0;
  const hertz = root * 2 ** (step / 12);
  for (let index = 0; index < samples.length; index += 1) {
    const seconds = Math.floor(index / channels) / samplesPerSecond;
    const swell = Math.min(1, seconds * 100) * Math.exp(-5 * seconds);
    const side = index % channels === note % channels ? 1 : 0.6;
    samples[index] = loudness * side * swell * Math.sin(2 * Math.PI * hertz * seconds);
  }
}

/** AAC has packets of 1024 samples and adds one in front. The sound must not be longer than the picture. */
function tuneLength(seconds: number): number {
  const packets = Math.floor((frameCount(seconds) * samplesPerSecond) / framesPerSecond / framesPerPacket);
  return (packets - 1) * framesPerPacket;
}
