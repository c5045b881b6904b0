import { formatDecimal } from '../../domain/decimal.ts';
import { cancelVideo } from '../cancel-video.ts';
import { buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { idSchema, pickAccountCaller } from '../read-video.ts';
import { toStateName } from '../../dialects/wire/task-fields.ts';
import { moneySchemas, statusSchema } from '../shown-video.ts';

/** Cancels a video that waits. One that has ended is shown as it is. */
export function videoCancel(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_cancel',
    title: 'Cancel a video',
    description: 'Cancels a video that is still queued and returns its held amount. A video that has ended stays.',
    input: buildObjectSchema({ id: idSchema }, ['id']),
    output: buildObjectSchema(
      {
        id: { type: 'string' },
        status: statusSchema,
        returned: { ...moneySchemas.amount, description: 'The held amount that is not charged.' },
        currency: moneySchemas.currency,
      },
      ['id', 'status'],
    ),
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ id }, call) => {
      const { task, isCancelled } = await cancelVideo(parts, id, call);
      const { charge } = await parts.charges.read(task, pickAccountCaller(call));
      const money = charge && {
        returned: formatDecimal(charge.state === 'charged' ? 0n : charge.amountNanos),
        currency: charge.currency,
      };
      return {
        structured: { id, status: toStateName(task), ...money },
        sentence: isCancelled ? 'The video is cancelled.' : 'The video had ended before.',
      };
    },
  });
}
