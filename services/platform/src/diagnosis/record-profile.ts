import { Session } from 'node:inspector/promises';
import { getHeapSnapshot } from 'node:v8';
import type { Sleeper } from '../clock.ts';
import { Problem } from '../problem.ts';

/** A profile as the file that Chrome's developer tools open. */
export type ProfileOrder = { readonly kind: 'cpu'; readonly seconds: number } | { readonly kind: 'heap' };

export const PROFILE_SECONDS = { default: 10, max: 60 } as const;
const PIECE_BYTES = 256 * 1024;
/** Fine enough for a call of a millisecond. */
const SAMPLE_US = 1000;

/** Records profiles of this process, one at a time. */
export interface ProfileRecorder {
  /**
   * Yields the bytes of the file. Refuses if profiles are not allowed, and while another one is recorded. The signal
   * ends the recording.
   */
  record(order: ProfileOrder, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** `areAllowed` is asked for each recording, so that a reload of the configuration decides. */
export function profileRecorder(clock: Sleeper, areAllowed: () => boolean): ProfileRecorder {
  let isBusy = false;
  return {
    async *record(order, signal) {
      if (!areAllowed()) throw notAllowed();
      if (isBusy) throw alreadyRecording();
      isBusy = true;
      try {
        if (order.kind === 'heap') yield* recordHeap(signal);
        else yield* splitPieces(await recordCpu(clock, order.seconds, signal));
      } finally {
        isBusy = false;
      }
    },
  };
}

async function recordCpu(clock: Sleeper, seconds: number, signal: AbortSignal): Promise<Uint8Array> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
    await session.post('Profiler.start');
    await clock.sleep(Math.min(seconds, PROFILE_SECONDS.max) * 1000, signal);
    signal.throwIfAborted();
    const { profile } = await session.post('Profiler.stop');
    return Buffer.from(JSON.stringify(profile));
  } finally {
    // Disconnecting ends the recording.
    session.disconnect();
  }
}

/** The snapshot is taken in one step, which blocks the process, and then written piece by piece. */
async function* recordHeap(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const snapshot = getHeapSnapshot();
  try {
    for await (const chunk of snapshot) {
      signal.throwIfAborted();
      yield* splitPieces(chunk as Buffer);
    }
  } finally {
    snapshot.destroy();
  }
}

function* splitPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) yield bytes.subarray(from, from + PIECE_BYTES);
}

function alreadyRecording(): Problem {
  return new Problem({
    kind: 'exhausted',
    reason: 'profile_running',
    message: 'this process records another profile; call again when it has ended',
  });
}

function notAllowed(): Problem {
  return new Problem({
    kind: 'forbidden',
    reason: 'profiles_not_allowed',
    message:
      'the configuration of this process does not allow profiles; set diagnosis.profiles to true for as long as you ' +
      'need them',
  });
}
