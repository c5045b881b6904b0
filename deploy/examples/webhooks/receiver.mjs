// Hears the events of Reelgate, verifies them with the OpenAI SDK and drops repeats.
import { createServer } from 'node:http';
import OpenAI from 'openai';

const BODY_BYTES_MAX = 1024 * 1024;
const SEEN_MAX = 10_000;
const client = new OpenAI({ apiKey: 'unused', webhookSecret: process.env.REELGATE_WEBHOOK_SECRET });
// A receiver with several processes keeps these ids in its database instead.
const seen = new Set();

const server = createServer(async (request, response) => {
  try {
    const event = await client.webhooks.unwrap(await textOf(request), request.headers);
    if (!seen.has(event.id)) {
      remember(event.id);
      console.log(`${event.type} ${event.data.id}`);
    }
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end();
    console.error(`refused: ${error.message}`);
  }
});
server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => {
  console.log(`listening on port ${server.address().port}`);
});

// The signature covers the bytes, so the body must not be parsed and written anew before it is verified.
async function textOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function remember(id) {
  seen.add(id);
  if (seen.size > SEEN_MAX) seen.delete(seen.values().next().value);
}
