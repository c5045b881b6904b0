import { open, rm } from 'node:fs/promises';
import { parseDuration } from '@reelgate/platform/config/units';
import { PROFILE_SECONDS } from '@reelgate/platform/diagnosis/record-profile';
import { ProfileKind } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { SERVICE_NAMES, readProgramConfig } from '../../program/config/program-config.ts';
import { CommandFailed, WrongCall, defineCommand } from '../command.ts';
import { connectDiagnosed } from '../diagnosed-services.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { asBytes } from '../format/quantities.ts';
import { resolveTypedPath } from '../environment.ts';
import { whileShowing } from '../while-showing.ts';

/** The file holds the memory of the process, so only its owner may read it. */
const OWNER_ONLY = 0o600;
/** Beside the recording: a large heap takes a while to be written. */
const TRANSFER_MS_MAX = 300_000;
const SECOND_MS = 1000;

type Order = { readonly kind: ProfileKind; readonly seconds: number };

export const profile = defineCommand({
  summary: 'record the processor time or the heap of a process, for the developer tools of Chrome',
  words: 'SERVICE',
  choices: SERVICE_NAMES,
  options: {
    cpu: { value: 'DURATION', means: 'record the processor time, 1s to 60s' },
    heap: { means: 'take a heap snapshot; it holds keys and prompts, and stops the process for a moment' },
    out: { value: 'FILE', means: 'the new file, such as tasks.cpuprofile or tasks.heapsnapshot', needed: true },
    gateway: { value: 'HOST:PORT', means: 'the admin port of the gateway; default: gateway.admin' },
  },
  example: 'profile tasks --cpu 10s --out tasks.cpuprofile',
  run: async ({ words, options, environment, terminal }) => {
    const [word, ...rest] = words;
    const name = SERVICE_NAMES.find((one) => one === word);
    if (name === undefined || rest.length > 0) throw new WrongCall(`name one of: ${SERVICE_NAMES.join(', ')}`);
    const order = readProfileOrder(options.cpu, options.heap === true);
    const file = resolveTypedPath(environment, options.out ?? '');
    const diagnosed = connectDiagnosed(readProgramConfig(environment), options.gateway);
    try {
      const service = diagnosed.services.find((one) => one.name === name);
      if (service === undefined)
        throw new CommandFailed('the gateway has no admin port; set gateway.admin, or name the port with --gateway');
      const { process, bytes } = await whileShowing(terminal, `recording ${name}`, () => record(service, order, file));
      return {
        answer: { service: name, process, file, bytes },
        text: `${name} (${process}): ${file}, ${asBytes(bytes)}`,
      };
    } finally {
      diagnosed.close();
    }
  },
});

function readProfileOrder(cpu: string | undefined, heap: boolean): Order {
  if ((cpu === undefined) !== heap) throw new WrongCall('choose one of --cpu DURATION and --heap');
  if (cpu === undefined) return { kind: ProfileKind.HEAP, seconds: 0 };
  const seconds = Math.round((parseDuration(cpu) ?? 0) / SECOND_MS);
  if (seconds < 1 || seconds > PROFILE_SECONDS.max)
    throw new WrongCall(`--cpu takes a duration from 1s to ${PROFILE_SECONDS.max}s, not ${cpu}`);
  return { kind: ProfileKind.CPU, seconds };
}

/** A file that was cut off is removed. */
async function record(
  { client }: DiagnosedService,
  { kind, seconds }: Order,
  file: string,
): Promise<{ readonly process: string; readonly bytes: number }> {
  const target = await open(file, 'wx', OWNER_ONLY).catch((error: unknown) => {
    throw new CommandFailed(`${file} cannot be created: ${error instanceof Error ? error.message : String(error)}`);
  });
  let process = '';
  let bytes = 0;
  try {
    const pieces = client.profile({ kind, seconds }, { timeoutMs: seconds * SECOND_MS + TRANSFER_MS_MAX });
    for await (const piece of pieces) {
      process ||= piece.process;
      bytes += piece.data.length;
      await target.write(piece.data);
    }
    await target.close();
  } catch (error) {
    await target.close().catch(() => undefined);
    await rm(file, { force: true });
    throw error;
  }
  return { process, bytes };
}
