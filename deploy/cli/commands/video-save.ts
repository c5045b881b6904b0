import { defineCommand, readSingleId } from '../command.ts';
import { resolveTypedPath } from '../typed-path.ts';
import { deliverVideo } from '../video/deliver-video.ts';
import { ACCESS_OPTIONS, findAccess } from '../video/find-access.ts';
import { publicApi } from '../video/public-api.ts';
import { checkTarget } from '../video/save-file.ts';
import { untilInterrupted } from '../video/until-interrupted.ts';

export const videoSave = defineCommand({
  summary: 'wait for a task and save its video',
  words: 'TASK_ID',
  options: {
    output: { value: 'FILE', short: 'o', means: 'the file of the video; default: the id of the task and .mp4' },
    force: { means: 'replace the file if it exists' },
    ...ACCESS_OPTIONS,
  },
  example: 'video save task_06f2k3h8v0s7m1q9c4x5b2n6d0 -o boat.mp4',
  run: ({ words, options, services, environment, terminal }) =>
    untilInterrupted(async (stop) => {
      const taskId = readSingleId(words, 'task');
      const { force = false, output = `${taskId}.mp4` } = options;
      const file = resolveTypedPath(environment, output);
      await checkTarget(file, force);
      const access = await findAccess(options, { services, environment }, stop);
      const api = publicApi(access.url, access.token, stop);
      return deliverVideo({ taskId, file, force, api, access, stop, held: '' }, { services, terminal });
    }),
});
