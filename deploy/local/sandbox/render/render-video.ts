import { registerAacEncoder } from '@mediabunny/aac-encoder';
import h264 from 'h264-mp4-encoder';
import {
  AudioSample,
  AudioSampleSource,
  BufferSource,
  BufferTarget,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
  Quality,
} from 'mediabunny';
import { frameCount, framesPerSecond } from './frame-format.ts';
import { promptShare, type PictureOrder } from './picture-order.ts';
import { newScene } from './scene.ts';

// The encoder's fastest setting. The file is still small, because most of the picture does not move.
const encoderSpeed = 10;
const quantization = 27;
const keyFrameEvery = framesPerSecond * 2;
const audioBitrate = 96_000;

/** Makes an MP4 with H.264 and AAC, its index at the front. It computes for seconds, so only the worker calls it. */
export async function renderVideo(order: PictureOrder): Promise<Uint8Array<ArrayBuffer>> {
  const pictures = await encodePictures(order);
  return addSound(pictures, order);
}

async function encodePictures(order: PictureOrder): Promise<Uint8Array> {
  const scene = newScene(order);
  const encoder = await h264.createH264MP4Encoder();
  encoder.width = scene.still.width;
  encoder.height = scene.still.height;
  encoder.frameRate = framesPerSecond;
  encoder.speed = encoderSpeed;
  encoder.quantizationParameter = quantization;
  encoder.groupOfPictures = keyFrameEvery;
  encoder.initialize();
  for (let frame = 0; frame < frameCount(order.seconds); frame += 1) encoder.addFrameYuv(scene.paintFrame(frame).bytes);
  encoder.finalize();
  return encoder.FS.readFile(encoder.outputFilename);
}

async function addSound(pictures: Uint8Array, order: PictureOrder): Promise<Uint8Array<ArrayBuffer>> {
  registerAacEncoder();
  const target = new BufferTarget();
  const output = new Output({ format: new Mp4OutputFormat({ fastStart: 'in-memory' }), target });
  const video = new EncodedVideoPacketSource('avc');
  const audio = new AudioSampleSource({ codec: 'aac', quality: new Quality({ bitrate: audioBitrate }) });
  output.addVideoTrack(video, { frameRate: framesPerSecond });
  output.addAudioTrack(audio);
  await output.start();
  await Promise.all([copyPackets(pictures, video), addTune(order, audio)]);
  await output.finalize();
  if (target.buffer === null) throw new Error('the muxer gave no bytes');
  return new Uint8Array(target.buffer);
}

async function copyPackets(pictures: Uint8Array, to: EncodedVideoPacketSource): Promise<void> {
  using input = new Input({ source: new BufferSource(pictures), formats: [MP4] });
  const track = await input.getPrimaryVideoTrack();
  const decoderConfig = await track?.getDecoderConfig();
  if (!track || !decoderConfig) throw new Error('the encoder gave no video track');
  let frame = 0;
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, { verifyKeyPackets: true })) {
    await to.add(packet.clone({ timestamp: frame / framesPerSecond, duration: 1 / framesPerSecond }), {
      decoderConfig,
    });
    frame += 1;
  }
  to.close();
}

async function addTune(order: PictureOrder, to: AudioSampleSource): Promise<void> {
  const sample = new AudioSample({
    data: composeTune(order),
    format: 'f32',
    numberOfChannels: channels,
    sampleRate: samplesPerSecond,
    timestamp: 0,
  });
  await to.add(sample);
  sample.close();
  to.close();
}

const samplesPerSecond = 32_000;
const channels = 2;

const framesPerPacket = 1024;
const notesPerSecond = 2;
const loudness = 0.12;
const rootHertz = 165;
const scale = [0, 3, 5, 7, 10, 12]; // a minor pentatonic, in semitones

/** A soft tune that the prompt determines: interleaved stereo, one plucked note every half second. */
function composeTune(order: PictureOrder): Float32Array<ArrayBuffer> {
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
