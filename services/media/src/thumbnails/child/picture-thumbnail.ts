import { openPicture } from '../../probe/images/pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../../probe/probe.ts';
import { writeThumbnail } from './write-thumbnail.ts';

/** Draws the thumbnail of a frame that another program decoded into a picture file. */
export async function pictureThumbnail(job: ProbeJob): Promise<ProbeOutcome> {
  return writeThumbnail(openPicture(job.path, job), job.into);
}
