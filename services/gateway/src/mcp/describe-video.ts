import type { ContentBlock } from '@modelcontextprotocol/server';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task } from '../clients/tasks-client.ts';
import { isFailed } from '../dialects/wire/task-fields.ts';
import type { TypeOf } from '../domain/schema.ts';
import { buildObjectSchema } from './mcp-tool.ts';
import type { ToolAnswer, ToolCall, ToolParts } from './mcp-tool.ts';
import { pickAccountCaller } from './read-video.ts';
import {
  VIDEO_REQUIRED,
  encodeNextCall,
  encodeShownVideo,
  hasExpired,
  nextCallSchema,
  videoSchemas,
} from './shown-video.ts';

/** A link is a secret in a transcript, so it ends soon. Each answer has a new one. */
const LINK_MS = 60 * 60 * 1000;
/** Clients put pictures into the context of a model. */
const THUMBNAIL_BYTES_MAX = 40 * 1024;
const VIDEO_TYPE = 'video/mp4';

export const shownVideoSchema = buildObjectSchema(
  {
    ...videoSchemas,
    link: { type: 'string', description: 'Plays and downloads the video without a token, for one hour.' },
    next_call: nextCallSchema,
  },
  VIDEO_REQUIRED,
);

/** Shows a video with its charge, a link of an hour, and its thumbnail if that is asked for and small enough. */
export async function describeVideo(
  parts: ToolParts,
  task: Task,
  call: ToolCall,
  withThumbnail = false,
): Promise<ToolAnswer<TypeOf<typeof shownVideoSchema>>> {
  const now = parts.clock.now();
  const [{ charge }, thumbnail] = await Promise.all([
    parts.charges.read(task, pickAccountCaller(call)),
    withThumbnail && !hasExpired(task, now) ? readThumbnail(parts, task, call) : undefined,
  ]);
  const link = hasExpired(task, now) ? undefined : parts.links.toVideoUrl(task, now + LINK_MS);
  return {
    structured: {
      ...encodeShownVideo(task, charge),
      ...(link === undefined ? {} : { link }),
      ...encodeNextCall(task),
    },
    sentence: describeNext(task, link !== undefined),
    attachments: [...(link === undefined ? [] : [toResourceLink(task, link)]), ...(thumbnail ? [thumbnail] : [])],
  };
}

function describeNext(task: Task, hasLink: boolean): string {
  if (!isFinal(task)) return 'The video is not done yet. Call video_wait with this id.';
  if (isFailed(task)) return 'The video failed; error.code has the reason.';
  return hasLink
    ? 'The video is done. The link works for one hour; video_get makes a new one.'
    : 'The task is done. There is no video to fetch, or it is no longer kept.';
}

function toResourceLink({ id, result }: Task, uri: string): ContentBlock {
  return {
    type: 'resource_link',
    uri,
    name: `${id}.mp4`,
    mimeType: result?.mediaType === VIDEO_TYPE ? result.mediaType : VIDEO_TYPE,
    ...(result !== undefined && result.bytes > 0n && { size: Number(result.bytes) }),
  };
}

/** Shows a video without its thumbnail if it does not have one or the thumbnail cannot be read now. */
async function readThumbnail(
  { media, log }: ToolParts,
  { result }: Task,
  { requestId }: ToolCall,
): Promise<ContentBlock | undefined> {
  if (result === undefined || result.object === '') return undefined;
  try {
    const stream = await media.readThumbnail(result.object);
    if (stream === undefined) return undefined;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > THUMBNAIL_BYTES_MAX) return undefined;
      chunks.push(chunk);
    }
    return { type: 'image', mimeType: 'image/jpeg', data: Buffer.concat(chunks).toString('base64') };
  } catch (error) {
    log.warn({ requestId, err: error }, 'a thumbnail could not be read');
    return undefined;
  }
}
