import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, Order } from '@reelgate/proto/tasks/v1/order';
import type { CallProgram } from '../../../console/api/task.ts';
import { emptyToUndefined } from '../../clients/wire-values.ts';
import { readExtra } from '../views/task-view.ts';
import { javascriptLiteral, jsonText, pythonLiteral, shellWord } from './call-literals.ts';

/** A create that makes an order again. */
export interface CreateCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The order, the call that makes it, and who calls. */
export interface ProgramFacts extends CreateCall {
  readonly order: Order;
  readonly publicUrl: string;
  readonly accountId: string;
  readonly tokenId: string;
}

/**
 * Each program creates the task, waits for its end, and saves the result. Returns undefined if it cannot express the
 * order.
 */
type WriteProgram = (facts: ProgramFacts) => readonly string[] | undefined;

const VIDEOS = '/v1/videos';
const FILE = 'video.mp4';
const KEY_COMMENT = 'With a key, a create whose answer was lost is sent again and makes no second task.';

/** In the order of their tabs. */
const PROGRAMS: Readonly<Record<CallProgram['id'], WriteProgram>> = {
  curl: writeCurl,
  openai_node: writeOpenaiNode,
  openai_python: writeOpenaiPython,
  ai_sdk: writeAiSdk,
  grpc_python: writeGrpcPython,
};

/** The programs that can express the order, each whole. */
export function writePrograms(facts: ProgramFacts): readonly CallProgram[] {
  return Object.entries(PROGRAMS).flatMap(([id, write]) => {
    const lines = write(facts);
    return lines === undefined ? [] : [{ id: id as CallProgram['id'], text: `${lines.join('\n')}\n` }];
  });
}

/** A prompt enhancement ends with a text in place of a video. */
function endsWithText({ order }: ProgramFacts): boolean {
  return order.kind === TaskKind.CONTEXT_IR;
}

function writeCurl(facts: ProgramFacts): readonly string[] {
  const { publicUrl, path, body } = facts;
  return [
    '#!/usr/bin/env bash',
    '# Needs curl and REELGATE_API_KEY.',
    'set -euo pipefail',
    '',
    `url=${shellWord(publicUrl)}`,
    'call() { curl -sS --fail-with-body --retry 5 --max-time 90 -H "Authorization: Bearer $REELGATE_API_KEY" "$@"; }',
    `field() { sed -nE 's/.*"'"$1"'":"([^"]*)".*/\\1/p'; }`,
    '',
    `# ${KEY_COMMENT}`,
    `id="$(call "$url"${shellWord(path)} -H 'Content-Type: application/json' \\`,
    '  -H "Idempotency-Key: again-$$-$RANDOM$RANDOM" \\',
    `  --data-raw ${shellWord(jsonText(body))} | field task_id)"`,
    '',
    'status=queued',
    'while [[ $status != completed && $status != failed ]]; do',
    '  # The gateway holds the answer until the state changes, at most 30 seconds.',
    `  answer="$(call "$url${VIDEOS}/$id" -H 'Prefer: wait=30')"`,
    '  status="$(field status <<< "$answer")"',
    '  echo "$id is $status"',
    'done',
    '[[ $status == completed ]]',
    ...(endsWithText(facts)
      ? ['echo "$answer"']
      : [`call "$url${VIDEOS}/$id/content" -o ${FILE}`, `echo 'saved ${FILE}'`]),
  ];
}

function writeOpenaiNode(facts: ProgramFacts): readonly string[] {
  const { publicUrl, path, body } = facts;
  return [
    '// npm install openai',
    "import { randomUUID } from 'node:crypto';",
    ...(endsWithText(facts) ? [] : ["import { writeFile } from 'node:fs/promises';"]),
    "import { setTimeout as wait } from 'node:timers/promises';",
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    '  apiKey: process.env.REELGATE_API_KEY,',
    `  baseURL: ${javascriptLiteral(`${publicUrl}/v1`)},`,
    '  timeout: 60_000,',
    '  maxRetries: 10,',
    '});',
    '',
    `const created = await client.post(${javascriptLiteral(toSdkPath(publicUrl, path))}, {`,
    `  body: ${javascriptLiteral(body, 1)},`,
    `  // ${KEY_COMMENT}`,
    "  headers: { 'Idempotency-Key': randomUUID() },",
    '});',
    'let video = await client.videos.retrieve(created.task_id);',
    "while (video.status !== 'completed') {",
    "  if (video.status === 'failed') throw new Error(video.error?.message);",
    '  console.log(video.id, video.status, video.progress);',
    '  await wait(2000);',
    '  video = await client.videos.retrieve(video.id);',
    '}',
    ...(endsWithText(facts)
      ? ['console.log(video.metadata.prompt);']
      : [
          'const content = await client.videos.downloadContent(video.id);',
          `await writeFile('${FILE}', Buffer.from(await content.arrayBuffer()));`,
          `console.log('saved ${FILE}');`,
        ]),
  ];
}

function writeOpenaiPython(facts: ProgramFacts): readonly string[] {
  const { publicUrl, path, body } = facts;
  return [
    '# pip install openai',
    'import os',
    'import time',
    'import uuid',
    '',
    'from openai import OpenAI',
    '',
    'client = OpenAI(',
    '    api_key=os.environ["REELGATE_API_KEY"],',
    `    base_url=${pythonLiteral(`${publicUrl}/v1`)},`,
    '    timeout=60,',
    '    max_retries=10,',
    ')',
    '',
    'created = client.post(',
    `    ${pythonLiteral(toSdkPath(publicUrl, path))},`,
    '    cast_to=dict,',
    `    body=${pythonLiteral(body, 1)},`,
    `    # ${KEY_COMMENT}`,
    '    options={"headers": {"Idempotency-Key": str(uuid.uuid4())}},',
    ')',
    'video = client.videos.retrieve(created["task_id"])',
    'while video.status in ("queued", "in_progress"):',
    '    print(f"{video.id} is {video.status}, {video.progress} %")',
    '    time.sleep(2)',
    '    video = client.videos.retrieve(video.id)',
    'if video.status != "completed":',
    '    raise SystemExit(f"{video.id} is {video.status}: {video.error}")',
    ...(endsWithText(facts)
      ? ['print(video.metadata["prompt"])']
      : [`client.videos.download_content(video.id).write_to_file("${FILE}")`, `print("saved ${FILE}")`]),
  ];
}

/** Both OpenAI SDKs take a path below their address, or a whole URL. */
function toSdkPath(publicUrl: string, path: string): string {
  return path.startsWith('/v1/') ? path.slice('/v1'.length) : `${publicUrl}${path}`;
}

/** The AI SDK has words, a length, a ratio and a resolution. Media have no place in it that says the same. */
function writeAiSdk({ publicUrl, path, body, order }: ProgramFacts): readonly string[] | undefined {
  const { model, prompt, duration, ratio, resolution, ...extra } = body;
  if (path !== VIDEOS || order.kind !== TaskKind.GENERATION || prompt === undefined || 'content' in body)
    return undefined;
  const own = { ...(resolution === undefined ? {} : { resolution }), ...(isEmpty(extra) ? {} : { extra }) };
  return [
    '// npm install ai zod, and @reelgate/ai-sdk-provider: its page says how to pack it',
    "import { writeFile } from 'node:fs/promises';",
    "import { createReelgate } from '@reelgate/ai-sdk-provider';",
    "import { experimental_generateVideo as generateVideo } from 'ai';",
    '',
    'const reelgate = createReelgate({',
    `  baseURL: ${javascriptLiteral(publicUrl)},`,
    '  apiKey: process.env.REELGATE_API_KEY,',
    '});',
    '',
    'const { video } = await generateVideo({',
    `  model: reelgate.video(${javascriptLiteral(model)}),`,
    `  prompt: ${javascriptLiteral(prompt)},`,
    ...(duration === undefined ? [] : [`  duration: ${javascriptLiteral(duration)},`]),
    ...(ratio === undefined ? [] : [`  aspectRatio: ${javascriptLiteral(ratio)},`]),
    ...(isEmpty(own) ? [] : [`  providerOptions: { reelgate: ${javascriptLiteral(own, 1)} },`]),
    '  poll: { intervalMs: 1000, timeoutMs: 30 * 60 * 1000 },',
    '});',
    `await writeFile('${FILE}', video.uint8Array);`,
    `console.log('saved ${FILE}');`,
  ];
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}

function writeGrpcPython(facts: ProgramFacts): readonly string[] {
  const { order, accountId, tokenId } = facts;
  return [
    '# pip install grpcio grpcio-tools protobuf, then in the folder of the contracts:',
    '# python -m grpc_tools.protoc -I . --python_out=. --grpc_python_out=. $(find reelgate -name "*.proto")',
    'import os',
    'import uuid',
    '',
    'import grpc',
    '',
    'from reelgate.tasks.v1 import order_pb2 as orders',
    'from reelgate.tasks.v1 import task_pb2',
    'from reelgate.tasks.v1 import task_service_pb2 as tasks',
    'from reelgate.tasks.v1 import task_service_pb2_grpc as tasks_rpc',
    '',
    'caller = [("authorization", "Bearer " + os.environ["REELGATE_CALLER_KEY"])]',
    'channel = grpc.insecure_channel(os.environ.get("REELGATE_TASKS", "127.0.0.1:9101"))',
    'service = tasks_rpc.TaskServiceStub(channel)',
    `account = ${pythonLiteral(accountId)}`,
    '',
    'order = orders.Order(',
    ...listOrderFields(order).map(([name, value]) => `    ${name}=${value},`),
    ')',
    `# ${KEY_COMMENT}`,
    'create = tasks.CreateTaskRequest(',
    `    account_id=account, token_id=${pythonLiteral(tokenId)}, order=order, idempotency_key=str(uuid.uuid4())`,
    ')',
    'task = service.CreateTask(create, metadata=caller, timeout=20).task',
    'watch = tasks.WatchTaskRequest(account_id=account, task_id=task.id)',
    'for change in service.WatchTask(watch, metadata=caller, timeout=1800):',
    '    if change.HasField("task"):  # A message without a task is a heartbeat.',
    '        task = change.task',
    '        print(f"{task_pb2.TaskState.Name(task.state)} {task.progress} %")',
    'if task.state != task_pb2.TASK_STATE_COMPLETED:',
    '    raise SystemExit(f"{task.id} failed: {task.failure.message}")',
    ...(endsWithText(facts)
      ? ['print(task.result.prompt)']
      : [
          '',
          'content = tasks.GetTaskContentRequest(account_id=account, task_id=task.id)',
          `with open("${FILE}", "wb") as file:`,
          '    for piece in service.GetTaskContent(content, metadata=caller, timeout=300):',
          '        file.write(piece.data)',
          `print("saved ${FILE}")`,
        ]),
  ];
}

/** The fields of an order as Python writes them, without those that the order leaves out. */
function listOrderFields(order: Order): readonly (readonly [string, string])[] {
  const items = order.content.flatMap(toContentItem).map((item) => `        ${item},`);
  const plain = {
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    source_task_id: emptyToUndefined(order.sourceTaskId),
    aigc_watermark: order.aigcWatermark,
    callback_url: order.callbackUrl,
    size: order.size,
    extra_json: isEmpty(readExtra(order)) ? undefined : order.extraJson,
  };
  return [
    ['kind', `orders.TASK_KIND_${TaskKind[order.kind]}`],
    ['model', pythonLiteral(order.model)],
    ...(items.length === 0 ? [] : [['content', `[\n${items.join('\n')}\n    ]`] as const]),
    ...Object.entries(plain).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, pythonLiteral(value)] as const],
    ),
  ];
}

/** Media whose bytes came with the request are left out. */
function toContentItem({ item }: ContentItem): readonly string[] {
  if (item.case === 'text') return [`orders.ContentItem(text=${pythonLiteral(item.value)})`];
  if (item.case === undefined || item.value.url === '') return [];
  const { kind, role, url } = item.value;
  const fields = [
    `kind=orders.MEDIA_KIND_${MediaKind[kind]}`,
    ...(role === MediaRole.UNSPECIFIED ? [] : [`role=orders.MEDIA_ROLE_${MediaRole[role]}`]),
    `url=${pythonLiteral(url)}`,
  ];
  return [`orders.ContentItem(media=orders.MediaItem(${fields.join(', ')}))`];
}
