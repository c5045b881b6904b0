import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Log } from '@reelgate/platform/log';
import type { MediaBackends } from '@reelgate/media/app';
import type { FetchFault } from '@reelgate/media/domain/fetch-fault';
import type { ImageFacts, MediaFacts, VideoFacts } from '@reelgate/media/domain/media-facts';
import { newNameCounter } from './draws.ts';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import { openMediaDisk } from './media-disk.ts';
import type { Program } from './program.ts';
import type { Receivers } from './receivers.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import type { CrashKind } from './simulated-disk.ts';

const FETCH_MS = { least: 20, most: 600 };
const SLOW_MS_MAX = 20_000;
const FAULTY_FETCHES = 0.08;
const WRITE_MS_MAX = 6;
const PROBE_MS_MAX = 40;
/** Of the kept files whose sync has not ended, this part is on the disk already. */
const EARLY_FILES = 0.5;
/** A medium is a line of JSON with its facts, so that a probe reads what a fetch wrote. */
const VIDEO: Omit<VideoFacts, 'durationMs' | 'width' | 'height'> = {
  family: 'video',
  mediaType: 'video/mp4',
  frameRate: 24,
  frames: 120,
  videoCodec: 'avc',
};
/** The host of the reference videos of clients. */
export const VIDEOS_HOST = 'videos.example';
const PICTURE: ImageFacts = { family: 'image', mediaType: 'image/png', width: 640, height: 640 };

/** The short side of a video by its resolution; the long one follows from the ratio, in steps of 32 as generators do. */
const SHORT_SIDES: Readonly<Record<string, number>> = { '720p': 736, '768P': 768, '1080p': 1088, '2K': 1440 };
const SIDE_STEP = 32;

/** Reads from the address of a result what the video shows. */
function describeVideo(url: string): VideoFacts {
  const { searchParams } = new URL(url);
  // a video that begins with a picture may have no ratio of its own
  const [wide = 1, high = 1] = (searchParams.get('ratio') || '16:9').split(':').map(Number);
  const short = SHORT_SIDES[searchParams.get('resolution') ?? ''] ?? SHORT_SIDES['720p']!;
  const long = Math.floor((short * Math.max(wide, high)) / Math.min(wide, high) / SIDE_STEP) * SIDE_STEP;
  const durationMs = Number(searchParams.get('seconds') ?? 0) * 1000;
  return { ...VIDEO, durationMs, ...(wide >= high ? { width: long, height: short } : { width: short, height: long }) };
}

export interface BackendsOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly receivers: Receivers;
  /** Called when a result is stored: the moment is a good one to die. */
  readonly onKept: () => void;
}

/** The bytes of the media service, its network and its parsers. The kept files outlive the processes. */
export interface SimulatedBackends {
  /** Opens them for one process, whose release has its own classes of faults. All processes share the kept files. */
  open(program: Pick<Program, 'fetchFault' | 'storageFaults'>, log: Log): MediaBackends;
  /**
   * Copies the files that the stores claim. Returns a function that restores them: a folder then has only these, and a
   * bucket, which is not backed up, keeps all files and the old versions of those that were removed.
   */
  backUp(claimed: ReadonlySet<string>, isBucket: boolean): () => void;
  /** The process has died. Files that were being received are gone, and a power cut takes what was not synced. */
  crash(process: SimulatedProcess, kind: CrashKind): void;
}

interface KeptFile {
  readonly bytes: Buffer;
  isSynced: boolean;
}

export function simulatedBackends(options: BackendsOptions): SimulatedBackends {
  const { scheduler, draws, faults, receivers, onKept } = options;
  const kept = new Map<string, KeptFile>();
  /** By the process that receives them, whose name begins their path. */
  const received = new Map<string, Buffer>();
  /** By their paths and keys. */
  const choices = new Map<string, string>();
  const countName = newNameCounter();
  let files = 0;
  const disk = openMediaDisk({ draws, faults, nameKey: (key) => choices.get(key) ?? '' });
  const nameChoice = (of: string): string => countName(`media ${of}`);
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      scheduler.after(ms, scheduler.current(), resolve);
    });
  const newPath = (name: string): string => {
    files += 1;
    const path = `${scheduler.current().name}/file-${files}`;
    choices.set(path, name);
    return path;
  };
  /** `name` says what the file is, for its choices. */
  const receive = async (bytes: Buffer, name: string) => {
    const path = newPath(name);
    await wait(draws.whole(nameChoice(`write ${name}`), 1, WRITE_MS_MAX));
    disk.assertRoom(name);
    received.set(path, bytes);
    return {
      path,
      bytes: bytes.byteLength,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      discard: async () => {
        received.delete(path);
      },
    };
  };
  const fetch = async (url: string, Fault: typeof FetchFault, code: 'network' | 'status') => {
    const name = nameChoice(`fetch ${url}`);
    const most = faults.happens('slow media', name, FAULTY_FETCHES) ? SLOW_MS_MAX : FETCH_MS.most;
    await wait(draws.whole(`${name} ms`, FETCH_MS.least, most));
    if (faults.happens('media away', name, FAULTY_FETCHES))
      throw new Fault(code, 'could not be fetched: its address cannot be reached');
  };
  const probe = async (path: string) => {
    await wait(draws.whole(nameChoice(`probe ${choices.get(path) ?? ''}`), 1, PROBE_MS_MAX));
    const bytes = received.get(path) ?? kept.get(path)?.bytes;
    if (bytes === undefined) return { fault: 'broken' } as const;
    return { facts: JSON.parse(bytes.toString()) as MediaFacts };
  };
  const parsers = { probe, assertReady: () => undefined };
  const copy = async (path: string, into: string) => {
    const outcome = await probe(path);
    const bytes = received.get(path) ?? kept.get(path)?.bytes;
    if (bytes !== undefined) received.set(into, bytes);
    choices.set(into, choices.get(path) ?? '');
    return outcome;
  };
  const readRange = (key: string, range?: { readonly start: number; readonly end: number }): Buffer | undefined => {
    const file = kept.get(key);
    return range === undefined ? file?.bytes : file?.bytes.subarray(range.start, range.end + 1);
  };
  const blobs = disk.over({
    keep: async (key, { path }) => {
      const name = nameChoice(`keep ${choices.get(path) ?? ''}`);
      const bytes = received.get(path);
      // a repeated call finds the file where it has put it
      if (bytes === undefined && kept.has(key)) return;
      if (bytes === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      const file: KeptFile = { bytes, isSynced: false };
      if (draws.happens(`${name} early`, EARLY_FILES)) kept.set(key, file);
      received.delete(path);
      choices.set(key, choices.get(path) ?? '');
      await wait(draws.whole(name, 1, WRITE_MS_MAX));
      kept.set(key, file);
      file.isSynced = true;
      onKept();
    },
    has: async (key, bytes) => {
      const file = kept.get(key);
      if (file?.bytes.byteLength !== bytes) return false;
      await wait(1);
      file.isSynced = true;
      return true;
    },
    findSize: async (key) => kept.get(key)?.bytes.byteLength,
    open: async (key, range) => {
      const bytes = readRange(key, range);
      return bytes && Readable.from([bytes]);
    },
    pieces: async (key, range) => {
      const bytes = readRange(key, range);
      return bytes && Readable.from([bytes]);
    },
    withFile: async (key, work) => (kept.has(key) ? work(key) : undefined),
    linkTo: async () => undefined,
    list: async (after, limit) =>
      [...kept]
        .filter(([key]) => key > after)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([key, { bytes }]) => ({ key, bytes: bytes.byteLength })),
    remove: async (key) => {
      kept.delete(key);
    },
    check: async () => undefined,
  });
  const incoming: MediaBackends['incoming'] = {
    begin: async () => {
      const parts: Uint8Array[] = [];
      return {
        get bytes() {
          return parts.reduce((sum, part) => sum + part.byteLength, 0);
        },
        append: async (source) => {
          for await (const part of source) parts.push(part);
        },
        finish: () => receive(Buffer.concat(parts), 'upload'),
        discard: async () => undefined,
      };
    },
    fill: async (write) => {
      const path = newPath('drawn');
      if (!(await write(path))) return undefined;
      const bytes = received.get(path);
      if (bytes === undefined) throw new Error('nothing was drawn into the file');
      received.delete(path);
      return receive(bytes, choices.get(path) ?? '');
    },
  };
  return {
    open: ({ fetchFault, storageFaults }, log) => {
      // the guard of the product stands around the disk
      const guard = storageFaults.storageFaults(log);
      const download = async (url: string, facts: MediaFacts, code: 'network' | 'status') => {
        await fetch(url, fetchFault.FetchFault, code);
        return guard.guard(() => receive(Buffer.from(JSON.stringify(facts)), url));
      };
      return {
        blobs: storageFaults.guardBlobs(blobs, guard),
        incoming: storageFaults.guardIncoming(incoming, guard),
        fetcher: {
          fetchReference: async ({ url }) => {
            const facts = new URL(url).host === VIDEOS_HOST ? describeVideo(url) : PICTURE;
            return { ...(await download(url, facts, 'network')), isFromException: false };
          },
          withResult: async ({ url }, use) => use(await download(url, describeVideo(url), 'status')),
        },
        sendWebhook: (order) => receivers.send(order),
        parsers: { references: parsers, results: parsers },
        redraw: copy,
        // no thumbnail is drawn
        thumbnails: { canDraw: async () => false, draw: async () => ({ fault: 'not_decoded' }) },
      };
    },
    backUp: (claimed, isBucket) => {
      const copied = [...kept].filter(([key]) => isBucket || claimed.has(key));
      return () => {
        if (!isBucket) kept.clear();
        for (const [key, { bytes }] of copied) kept.set(key, { bytes, isSynced: true });
      };
    },
    crash: (process, kind) => {
      for (const path of received.keys()) if (path.startsWith(`${process.name}/`)) received.delete(path);
      if (kind === 'power cut') for (const [key, { isSynced }] of kept) if (!isSynced) kept.delete(key);
    },
  };
}
