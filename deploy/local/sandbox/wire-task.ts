import type { Kind, Order } from './vendor-order.ts';
import { failureBy } from './vendor-refusal.ts';
import type { Resolution } from './render/frame-format.ts';
import type { Script } from './steering/script.ts';
import { findPhase } from './task-life.ts';
import type { Task } from './task-life.ts';

// The vendor does not publish its rates. These give about the figures of its examples.
const tokensPerSecond: Readonly<Record<Resolution, number>> = { '480P': 8000, '768P': 20_000, '2K': 52_000 };
const tokensPerRegeneratedSecond = 19_500;
const tokensPerImage = 2250;
const tokensPerAudioSecond = 1900;

// Leaves room for the sentences around the quote in the 7000 characters of a generation's prompt.
const quotedCodePointsMax = 6000;

export type TaskView = Readonly<Record<string, unknown>> & { readonly status: string };
export type LinkMaker = (task: Task) => string;

/** A task as the vendor shows it in a query, in a list and in a callback. */
export function toWireTask(task: Task, now: number, linkTo: LinkMaker): TaskView {
  const { id, order, script, createdAt } = task;
  const { status, since } = findPhase(task, now);
  const prompt = order.kind === 'h3_context_ir' ? contextPrompt(order) : '';
  const succeeded = status === 'succeeded';
  return {
    id,
    model: order.model,
    status,
    ...(status === 'failed' ? { error: failureBy(script.ending.as === 'failed' ? script.ending.code : '1000') } : {}),
    created_at: unixSeconds(createdAt),
    updated_at: unixSeconds(since),
    ...(succeeded && script.result !== 'absent'
      ? { content: order.kind === 'h3_context_ir' ? { prompt } : { url: linkTo(task) } }
      : {}),
    ...(order.resolution === undefined ? {} : { resolution: order.resolution }),
    duration: order.duration,
    usage: succeeded ? computeUsage(order, script, prompt.length) : {},
    ratio: order.kind === 'regeneration' ? '' : order.ratio,
    task_type: order.kind,
    modality: order.kind === 'h3_context_ir' ? 'text' : 'video',
  };
}

function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** The text of a finished context-IR: the vendor's sections, with the client's prompt in them. */
function contextPrompt(order: Order): string {
  const quote = Array.from(order.text).slice(0, quotedCodePointsMax).join('').trim();
  const half = timestamp(order.duration / 2);
  return [
    ...(order.roles.some((role) => role.startsWith('reference_')) ? referenceSections(order) : []),
    `integrated_multimodal_description: [Shot 1] At 00:00.000, the scene opens as asked for: "${quote}" ` +
      `The camera holds still. [Shot 2] At ${half}, the same scene goes on, ` +
      `a little closer, until ${timestamp(order.duration)}.`,
    'overall_soundscape: The quiet sound of the place itself, with nothing spoken.',
    'non_diegetic_music: A soft plucked tune on a minor pentatonic scale, two notes a second.',
  ].join('\n');
}

function referenceSections({ roles }: Order): readonly string[] {
  const names = roles.map((role, index) => `${role.replace('_', ' ')} ${index + 1}`).join(', ');
  return [
    `subject_definitions: The subjects are taken from ${names}.`,
    'summary: One continuous scene built from the references.',
    'retention_analysis: Faces, clothing and colours of the references are kept.',
    'detailed_description: As told below, shot by shot.',
  ];
}

function timestamp(seconds: number): string {
  return `00:${seconds.toFixed(3).padStart(6, '0')}`;
}

/** The usage that a success reports: seconds and tokens for a video, only tokens for a context-IR. */
function computeUsage(order: Order, { usage }: Script, promptLength: number): Readonly<Record<string, number>> {
  if (!usage.told) return {};
  if (order.kind === 'h3_context_ir')
    return toTokenCounts(
      Math.ceil(order.text.length / 2) + countMediaTokens(order) + 500,
      Math.ceil(promptLength / 3),
      usage.tokens,
    );
  const outputSeconds = usage.seconds ?? order.duration;
  const inputSeconds = usage.seconds === undefined ? order.inputSeconds : 0;
  return {
    total_seconds: inputSeconds + outputSeconds,
    input_seconds: inputSeconds,
    output_seconds: outputSeconds,
    input_image_count: countImages(order),
    ...(order.roles.includes('reference_audio') ? { input_audio_seconds: order.inputAudioSeconds } : {}),
    ...toTokenCounts(countMediaTokens(order), outputSeconds * secondTokens(order.kind, order.resolution), usage.tokens),
  };
}

function toTokenCounts(
  prompt: number,
  completion: number,
  total: number | undefined,
): Readonly<Record<string, number>> {
  const promptTokens = total === undefined ? prompt : Math.min(prompt, Math.floor(total / 2));
  const completionTokens = total === undefined ? completion : total - promptTokens;
  return {
    total_tokens: promptTokens + completionTokens,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
  };
}

function countMediaTokens(order: Order): number {
  return countImages(order) * tokensPerImage + order.inputAudioSeconds * tokensPerAudioSecond;
}

function countImages({ roles }: Order): number {
  return roles.filter((role) => role === 'first_frame' || role === 'last_frame' || role === 'reference_image').length;
}

function secondTokens(kind: Kind, resolution: Resolution | undefined): number {
  return kind === 'regeneration' ? tokensPerRegeneratedSecond : tokensPerSecond[resolution ?? '768P'];
}
