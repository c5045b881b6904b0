import { formatDecimal } from '../../domain/decimal.ts';
import { estimateVideo } from '../estimate-video.ts';
import { READ_ONLY, buildTool, buildObjectSchema } from '../mcp-tool.ts';
import type { McpTool, ToolParts } from '../mcp-tool.ts';
import { readBalanceLeft } from '../read-balance.ts';
import { moneySchemas } from '../shown-video.ts';
import { decodeVideoOrder, videoArguments } from '../video-order.ts';

/** Quotes the price of a video and the settings that it would have, without ordering it. */
export function videoQuote(parts: ToolParts): McpTool {
  return buildTool({
    name: 'video_quote',
    title: 'Quote a video',
    description:
      'Says what a video would cost, without ordering it. Call it before video_create, tell the user the price, and ' +
      'pass its max_amount and currency to video_create.',
    input: buildObjectSchema(videoArguments),
    output: buildObjectSchema(
      {
        ...moneySchemas,
        max_amount: { ...moneySchemas.amount, description: 'The least max_amount that video_create takes now.' },
        model: { type: 'string' },
        seconds: { type: 'integer' },
        resolution: { type: 'string' },
        ratio: { type: 'string' },
        balance_left: { ...moneySchemas.amount, description: 'What the account can still spend.' },
      },
      ['amount', 'max_amount', 'currency', 'model', 'resolution', 'balance_left'],
    ),
    hints: READ_ONLY,
    run: async (args, call) => {
      const decoded = await decodeVideoOrder(parts, args, call);
      const [{ amountNanos, nanos, currency, facts }, left] = await Promise.all([
        estimateVideo(parts, decoded, call),
        readBalanceLeft(parts, call),
      ]);
      const { model, duration, resolution = '', ratio } = decoded.order;
      const seconds = duration ?? Number(facts['seconds'] ?? 0n);
      return {
        structured: {
          amount: formatDecimal(amountNanos),
          max_amount: formatDecimal(nanos),
          currency,
          model,
          ...(seconds > 0 && { seconds }),
          resolution,
          ...(ratio !== undefined && ratio !== '' && { ratio }),
          balance_left: formatDecimal(left.nanos),
        },
        sentence: 'Nothing is ordered yet. The price can change until video_create, which max_amount bounds.',
      };
    },
  });
}
