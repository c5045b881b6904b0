import fc from 'fast-check';
import { decodeKeyFrame } from '../src/decode-key-frame.ts';
import { sampleStream, SAMPLES } from './samples.ts';

export interface FuzzedStream {
  readonly packet: Uint8Array;
  readonly description?: Uint8Array;
}

const REFUSALS: readonly string[] = ['unsupported', 'too_large', 'corrupt'];
/** Far above the processor time of a call: the largest picture decodes in about a second. */
const CALL_MS_MAX = 10_000;
/** On a slow machine a call may take this many times as long as the slowest sample takes there. */
const SAMPLES_MAX = 50;

const streams = SAMPLES.map(({ name }) => sampleStream(name));
const sample = fc.constantFrom(...streams);
/** Most changes hit the parameter sets and headers at the start: `at * at`. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  to: fc.integer({ min: 0, max: 255 }),
});

function applyChanges(whole: Uint8Array, changes: readonly { readonly at: number; readonly to: number }[]): Uint8Array {
  const bytes = Uint8Array.from(whole);
  for (const { at, to } of changes) bytes[Math.floor(at * at * bytes.byteLength)] = to;
  return bytes;
}

/** The kinds of damaged input, by what is done to a sample. */
export const FUZZERS: Readonly<Record<string, fc.Arbitrary<FuzzedStream>>> = {
  'mutated streams': fc
    .tuple(sample, fc.array(change, { minLength: 1, maxLength: 6 }))
    .map(([whole, changes]) => ({ packet: applyChanges(whole, changes) })),
  'truncated streams': fc
    .tuple(sample, fc.nat())
    .map(([whole, length]) => ({ packet: whole.subarray(0, length % whole.byteLength) })),
  'random track descriptions': fc
    .tuple(sample, fc.uint8Array({ maxLength: 64 }))
    .map(([packet, description]) => ({ packet, description })),
  'random bytes after the headers of a sample': fc
    .tuple(sample, fc.uint8Array({ maxLength: 2000 }), fc.nat())
    .map(([whole, tail, at]) => ({ packet: Buffer.concat([whole.subarray(0, at % whole.byteLength), tail]) })),
};

function decodeTimed({ packet, description }: FuzzedStream): {
  readonly answer: ReturnType<typeof decodeKeyFrame>;
  readonly tookMs: number;
} {
  const before = process.cpuUsage();
  const answer = decodeKeyFrame(packet, description);
  const { user, system } = process.cpuUsage(before);
  return { answer, tookMs: (user + system) / 1000 };
}

const slowestMs = Math.max(...streams.map((packet) => decodeTimed({ packet }).tookMs));

/** Decodes a stream. It throws unless the answer is a whole picture or a named refusal, in bounded time. */
export function checkDecoding(stream: FuzzedStream): 'picture' | 'refusal' {
  const { answer, tookMs } = decodeTimed(stream);
  if (tookMs > Math.max(CALL_MS_MAX, SAMPLES_MAX * slowestMs)) throw new Error(`the call took ${tookMs} ms`);
  if ('refusal' in answer) {
    if (!REFUSALS.includes(answer.refusal)) throw new Error(`the refusal ${answer.refusal} has no name`);
    return 'refusal';
  }
  const { data, width, height } = answer.picture;
  if (data.byteLength !== 3 * width * height) throw new Error(`${data.byteLength} bytes for ${width}x${height}`);
  return 'picture';
}
