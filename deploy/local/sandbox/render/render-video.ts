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
import type { PictureOrder } from './picture-order.ts';
import { newScene } from './scene.ts';
import { channels, samplesPerSecond, composeTune } from './tune.ts';

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
