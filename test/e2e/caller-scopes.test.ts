import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { DescMethod } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readAccessRule, toScopeWord } from '@reelgate/platform/rpc/access';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { Secret, deriveSecret } from '@reelgate/platform/secret';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { IDENTITIES, toCaller, callKey } from '../../deploy/program/keys/identities.ts';
import { everyRpc } from '../harness/contracts.ts';
import { anEndlessOrder } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { callGrpc, callJson } from '@reelgate/platform/testing/raw-rpc';
import type { CallRaw, Outcome } from '@reelgate/platform/testing/raw-rpc';
import { GRANTABLE_SCOPES, KEYS, SIGNING_KEY, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';

const START_TIMEOUT_MS = 120_000;
const DENIED = 'permission_denied';

/** One account with something of each kind. */
interface Owner {
  readonly accountId: string;
  readonly tokenId: string;
  readonly taskId: string;
  readonly jobId: string;
}

const lease = ({ jobId }: Owner) => ({ jobId, lease: 'lease_none' });

/** A request of every RPC that names the owner wherever it can. An RPC without one here fails the test. */
const REQUESTS: Readonly<Record<string, (owner: Owner) => object>> = {
  'reelgate.tasks.v1.TaskService/CheckOrder': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.TaskService/EstimateOrder': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.TaskService/CreateTask': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.TaskService/CreateTasks': ({ accountId }) => ({ calls: [{ request: { accountId } }] }),
  'reelgate.tasks.v1.TaskService/GetTask': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.tasks.v1.TaskService/GetTaskTimeline': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.tasks.v1.TaskService/ListModels': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.TaskService/ListTasks': ({ accountId }) => ({ accountId, limit: 5 }),
  'reelgate.tasks.v1.TaskService/WatchTask': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.tasks.v1.TaskService/WatchTasks': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.TaskService/CancelTask': ({ accountId }) => ({ accountId, taskId: 'task_none' }),
  'reelgate.tasks.v1.TaskService/DeleteTask': ({ accountId }) => ({ accountId, taskId: 'task_none' }),
  'reelgate.tasks.v1.TaskService/HandleCallback': () => ({ token: 'none' }),
  'reelgate.tasks.v1.TaskService/GetTaskContent': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.tasks.v1.TaskService/CreateContentLink': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.tasks.v1.TaskService/UploadMedia': ({ accountId }) => ({ header: { accountId, kind: 1 } }),
  'reelgate.tasks.v1.JobService/CreateJob': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.JobService/WithdrawJob': (owner) => ({ lease: lease(owner) }),
  'reelgate.tasks.v1.JobService/GetJob': ({ accountId, jobId }) => ({ accountId, jobId }),
  'reelgate.tasks.v1.JobService/LeaseJobs': () => ({ worker: 'a stranger', limit: 1 }),
  'reelgate.tasks.v1.JobService/RenewJobLeases': (owner) => ({ leases: [lease(owner)] }),
  'reelgate.tasks.v1.JobService/MarkJobStarted': (owner) => ({ lease: lease(owner) }),
  'reelgate.tasks.v1.JobService/ReturnJob': (owner) => ({ lease: lease(owner) }),
  'reelgate.tasks.v1.JobService/FinishJob': (owner) => ({ lease: lease(owner) }),
  'reelgate.tasks.v1.WebhookService/CreateWebhookEndpoint': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.WebhookService/GetWebhookEndpoint': ({ accountId }) => ({ accountId, endpointId: 'default' }),
  'reelgate.tasks.v1.WebhookService/ListWebhookEndpoints': ({ accountId }) => ({ accountId, limit: 5 }),
  'reelgate.tasks.v1.WebhookService/UpdateWebhookEndpoint': ({ accountId }) => ({ accountId, endpointId: 'whe_none' }),
  'reelgate.tasks.v1.WebhookService/DeleteWebhookEndpoint': ({ accountId }) => ({ accountId, endpointId: 'whe_none' }),
  'reelgate.tasks.v1.WebhookService/RotateWebhookSecret': ({ accountId }) => ({ accountId, endpointId: 'whe_none' }),
  'reelgate.tasks.v1.WebhookService/TestWebhookEndpoint': ({ accountId }) => ({
    accountId,
    endpointId: 'whe_none',
    eventType: 'video.completed',
  }),
  'reelgate.tasks.v1.WebhookService/ListWebhookDeliveries': ({ accountId }) => ({
    accountId,
    endpointId: 'default',
    limit: 5,
  }),
  'reelgate.tasks.v1.WebhookService/ListTaskWebhookDeliveries': ({ accountId, taskId }) => ({
    accountId,
    subjectId: taskId,
  }),
  'reelgate.tasks.v1.WebhookService/GetWebhookDelivery': ({ accountId }) => ({ accountId, deliveryId: 'whd_none' }),
  'reelgate.tasks.v1.WebhookService/ResendWebhookDelivery': ({ accountId }) => ({ accountId, deliveryId: 'whd_none' }),
  'reelgate.tasks.v1.WebhookService/ResendFailedWebhookDeliveries': ({ accountId }) => ({
    accountId,
    endpointId: 'default',
    since: { seconds: 1_795_392_000n },
  }),
  'reelgate.tasks.v1.WebhookService/WatchEvents': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.WebhookService/LeaseWebhookReceivers': () => ({ limit: 1 }),
  'reelgate.tasks.v1.WebhookService/RenewWebhookLeases': () => ({ leases: [] }),
  'reelgate.tasks.v1.WebhookService/RecordWebhookAttempts': () => ({ records: [] }),
  'reelgate.tasks.v1.BatchService/CreateBatch': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.BatchService/GetBatch': ({ accountId }) => ({ accountId, batchId: 'none' }),
  'reelgate.tasks.v1.BatchService/ListBatches': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.BatchService/CancelBatch': ({ accountId }) => ({ accountId, batchId: 'none' }),
  'reelgate.tasks.v1.BatchService/LeaseBatch': () => ({}),
  'reelgate.tasks.v1.BatchService/AppendBatchLines': () => ({ lease: { batchId: 'none', lease: 'none' } }),
  'reelgate.tasks.v1.BatchService/FinishBatchRead': () => ({ lease: { batchId: 'none', lease: 'none' } }),
  'reelgate.tasks.v1.BatchService/ListBatchLines': () => ({ lease: { batchId: 'none', lease: 'none' }, limit: 1 }),
  'reelgate.tasks.v1.BatchService/FinishBatch': () => ({ lease: { batchId: 'none', lease: 'none' } }),
  'reelgate.tasks.v1.BatchService/ReturnBatch': () => ({ lease: { batchId: 'none', lease: 'none' } }),
  'reelgate.tasks.v1.OperatorService/ShowTask': ({ taskId }) => ({ taskId }),
  'reelgate.tasks.v1.OperatorService/ListTaskRecords': ({ accountId }) => ({ accountId, limit: 5 }),
  'reelgate.tasks.v1.OperatorService/ShowJob': ({ jobId }) => ({ jobId }),
  'reelgate.tasks.v1.OperatorService/ListJobRecords': ({ accountId }) => ({ accountId, limit: 5 }),
  'reelgate.tasks.v1.OperatorService/ListAttention': () => ({}),
  'reelgate.tasks.v1.OperatorService/CountAttention': () => ({}),
  'reelgate.tasks.v1.OperatorService/ResolveAttention': ({ taskId }) => ({ taskId, resolution: 2 }),
  'reelgate.tasks.v1.OperatorService/ListChannels': () => ({}),
  'reelgate.tasks.v1.OperatorService/TestChannel': () => ({ id: 'none' }),
  'reelgate.tasks.v1.OperatorService/PauseChannel': () => ({ id: 'none', reason: 'a test' }),
  'reelgate.tasks.v1.OperatorService/ResumeChannel': () => ({ id: 'none' }),
  'reelgate.tasks.v1.OperatorService/ListChannelPauses': () => ({}),
  'reelgate.tasks.v1.OperatorService/GetActivity': () => ({}),
  'reelgate.tasks.v1.OperatorService/GetFaults': () => ({}),
  'reelgate.tasks.v1.OperatorService/ListChannelFailures': () => ({ channel: 'none' }),
  'reelgate.tasks.v1.OperatorService/FindWork': ({ taskId }) => ({ value: taskId }),
  'reelgate.tasks.v1.OperatorService/GetHandOver': () => ({}),
  'reelgate.tasks.v1.OperatorService/MarkHandOver': () => ({ until: timestampFromMs(0) }),
  'reelgate.tasks.v1.OperatorService/ListNotes': ({ taskId }) => ({ subject: taskId }),
  'reelgate.tasks.v1.OperatorService/AddNote': () => ({ subject: 'none', text: 'a test' }),
  'reelgate.tasks.v1.OperatorService/ResolveNote': () => ({ id: 'none' }),
  'reelgate.tasks.v1.OperatorService/DeleteNote': () => ({ id: 'none' }),
  'reelgate.tasks.v1.OperatorService/ListActs': () => ({}),
  'reelgate.tasks.v1.OperatorService/ClassifyHolds': ({ taskId }) => ({ taskIds: [taskId] }),
  'reelgate.tasks.v1.QueueService/ListQueue': ({ accountId }) => ({ accountId }),
  'reelgate.tasks.v1.QueueService/ShowQueuedTask': ({ taskId }) => ({ taskId }),
  'reelgate.tasks.v1.QueueService/MoveQueuedTask': ({ taskId }) => ({ taskId, first: true, reason: 'a test' }),
  'reelgate.tasks.v1.QueueService/CancelQueued': ({ accountId }) => ({ accountId, reason: 'a test' }),
  'reelgate.tasks.v1.QueueService/SetQueueWeight': ({ accountId }) => ({ accountId, weight: 1, reason: 'a test' }),
  'reelgate.tasks.v1.QueueService/HoldQueue': ({ accountId }) => ({ accountId, reason: 'a test' }),
  'reelgate.tasks.v1.QueueService/ReleaseQueue': ({ accountId }) => ({ accountId, reason: 'a test' }),
  'reelgate.billing.v1.BillingService/Authenticate': () => ({ key: 'sk-nobody-has-this-key' }),
  'reelgate.billing.v1.BillingService/GetPrincipal': ({ tokenId }) => ({ tokenId }),
  'reelgate.billing.v1.BillingService/QuotePrice': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.BillingService/ListUnitPrices': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.BillingService/CheckHold': ({ accountId, tokenId }) => ({ accountId, tokenId }),
  'reelgate.billing.v1.BillingService/PlaceHold': ({ accountId, tokenId }) => ({
    taskId: 'task_of_nobody',
    accountId,
    tokenId,
    facts: { priceKey: 'Alpha-H3', resolution: '768P', seconds: 5n },
  }),
  'reelgate.billing.v1.BillingService/PlaceHolds': ({ accountId, tokenId }) => ({
    orders: [{ hold: { taskId: 'task_of_nobody', accountId, tokenId } }],
  }),
  'reelgate.billing.v1.BillingService/ExtendHold': ({ taskId }) => ({ taskId }),
  'reelgate.billing.v1.BillingService/ReleaseHold': ({ taskId }) => ({ taskId }),
  'reelgate.billing.v1.BillingService/PrecludeHold': ({ taskId }) => ({ taskId }),
  'reelgate.billing.v1.BillingService/SettleHold': ({ taskId }) => ({ taskId }),
  'reelgate.billing.v1.BillingService/GetHold': ({ taskId }) => ({ taskId }),
  'reelgate.billing.v1.BillingService/ListCharges': ({ accountId, taskId }) => ({ accountId, taskIds: [taskId] }),
  'reelgate.billing.v1.AccountService/GetAccount': ({ accountId }) => ({ id: accountId }),
  'reelgate.billing.v1.AccountService/CreditAccount': ({ accountId }) => ({ id: accountId }),
  'reelgate.billing.v1.AccountService/CreateToken': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.AccountService/ListTokens': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.AccountService/RevokeToken': ({ tokenId }) => ({ id: tokenId }),
  'reelgate.billing.v1.AccountService/UpdateTokenLimits': ({ tokenId }) => ({ id: tokenId }),
  'reelgate.billing.v1.AccountService/ListAccounts': () => ({}),
  'reelgate.billing.v1.AccountService/ListCredits': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.AccountService/GetMoney': () => ({
    from: { seconds: 1_795_392_000n },
    to: { seconds: 1_795_395_600n },
  }),
  'reelgate.billing.v1.AccountService/GetMargins': () => ({
    from: { seconds: 1_795_392_000n },
    to: { seconds: 1_795_395_600n },
    splitBy: 3,
  }),
  'reelgate.billing.v1.AccountService/ListActs': () => ({}),
  'reelgate.billing.v1.AccountService/ListPrices': () => ({}),
  'reelgate.billing.v1.AccountService/VerifyLedger': () => ({}),
  'reelgate.billing.v1.AccountService/RebuildBalances': () => ({}),
  'reelgate.billing.v1.CallService/PlaceCalls': ({ accountId, tokenId }) => ({
    calls: [{ callId: 'call_of_nobody', accountId, tokenId }],
  }),
  'reelgate.billing.v1.CallService/ConfirmCalls': () => ({ unwrittenBatch: 'batch_of_nobody' }),
  'reelgate.billing.v1.CallService/SettleCalls': () => ({ ends: [{ callId: 'call_of_nobody', basis: 4 }] }),
  'reelgate.billing.v1.SessionService/EndSessions': () => ({ subject: 'token:nobody' }),
  'reelgate.billing.v1.SessionService/ListEndedSessions': () => ({}),
  'reelgate.billing.v1.UsageService/GetUsage': ({ accountId }) => ({ accountId }),
  'reelgate.billing.v1.UsageService/ListChargedItems': ({ accountId }) => ({ accountId }),
  'reelgate.media.v1.MediaService/StageMedia': ({ accountId }) => ({ accountId }),
  'reelgate.media.v1.MediaService/RemoveStaged': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.media.v1.MediaService/IngestResult': ({ accountId, taskId }) => ({ accountId, taskId }),
  'reelgate.media.v1.MediaService/RemoveResult': ({ taskId }) => ({ taskId }),
  'reelgate.media.v1.MediaService/LinkObject': () => ({ object: 'none' }),
  'reelgate.media.v1.MediaService/RemovePrivate': () => ({ objects: ['none'] }),
  'reelgate.media.v1.MediaService/CheckFileRoom': ({ accountId }) => ({ accountId }),
  'reelgate.media.v1.MediaService/SendWebhook': () => ({ url: 'https://site.example' }),
  'reelgate.media.v1.FileService/ReserveFile': ({ accountId }) => ({ accountId }),
  'reelgate.media.v1.FileService/CommitFile': ({ accountId }) => ({ accountId, fileId: 'none', filename: 'none' }),
  'reelgate.media.v1.FileService/GetFile': ({ accountId }) => ({ accountId, fileId: 'none' }),
  'reelgate.media.v1.FileService/ListFiles': ({ accountId }) => ({ accountId, limit: 1 }),
  'reelgate.media.v1.FileService/RemoveFile': ({ accountId }) => ({ accountId, fileId: 'none' }),
  'reelgate.media.v1.OperatorService/VerifyBlobs': () => ({ sizesOnly: true }),
  'reelgate.diagnosis.v1.DiagnosisService/Diagnose': () => ({}),
  'reelgate.diagnosis.v1.DiagnosisService/Profile': () => ({ kind: 1, seconds: 1 }),
};

const rpcs = await everyRpc();
const needed = (method: DescMethod): string => toScopeWord(readAccessRule(method).scope);
/** The scopes that the configuration can grant to a caller. */
const granted = rpcs.filter(([, method]) => (GRANTABLE_SCOPES as readonly string[]).includes(needed(method)));

let sandbox: Sandbox;
let program: Program;
let demo: Owner;
let other: Owner;
const connections: GrpcConnection[] = [];

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => new Uint8Array(0) });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
  await program.start();
  demo = await anOwner('demo');
  other = await anOwner('other');
}, START_TIMEOUT_MS);

afterAll(async () => {
  for (const connection of connections) connection.close();
  await program?.end();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

const signingKey = (): Secret => new Secret(SIGNING_KEY);

function connect(service: 'tasks' | 'billing', key: Secret | string): GrpcConnection {
  const connection = connectGrpc(program.config[service].listen, typeof key === 'string' ? new Secret(key) : key);
  connections.push(connection);
  return connection;
}

/** Makes one thing of each kind for an account, over the public API and over the services. */
async function anOwner(accountId: 'demo' | 'other'): Promise<Owner> {
  const { token } = await connect('billing', callKey('operator', 'billing', signingKey()))
    .client(AccountService)
    .createToken({ accountId, models: ['*'] });
  const tokenId = token!.id;
  const gateway = connect('tasks', callKey('gateway', 'tasks', signingKey()));
  const { task } = await gateway.client(TaskService).createTask({ accountId, tokenId, order: anEndlessOrder() });
  const call = {
    endpoint: 'embeddings',
    model: 'none',
    method: 'POST',
    path: '/v1/embeddings',
    body: { case: 'inline' as const, value: new Uint8Array() },
  };
  const { job } = await gateway.client(JobService).createJob({ accountId, tokenId, call, worker: 'this test' });
  return { accountId, tokenId, taskId: task!.id, jobId: job!.id };
}

/** gRPC on one port, JSON on the other. */
const PROTOCOLS: readonly (readonly [name: string, call: CallRaw, port: 'listen' | 'http'])[] = [
  ['gRPC', callGrpc, 'listen'],
  ['JSON over Connect', callJson, 'http'],
];

function serviceOf(method: DescMethod): 'tasks' | 'billing' | 'media' {
  // Every service serves its diagnosis.
  return (/^reelgate\.(tasks|billing|media)\./.exec(method.parent.typeName)?.[1] ?? 'tasks') as
    'tasks' | 'billing' | 'media';
}

function portOf(method: DescMethod, port: 'listen' | 'http'): string {
  return program.config[serviceOf(method)][port];
}

test('this file has a request for every RPC of every service', () => {
  expect(Object.keys(REQUESTS).sort()).toEqual(rpcs.map(([name]) => name).sort());
});

describe.each(PROTOCOLS)('over %s', (_protocol, call, port) => {
  const outcome = (name: string, method: DescMethod, key: string, owner: Owner): Promise<Outcome> =>
    call(portOf(method, port), { method, request: REQUESTS[name]!(owner), key });

  describe.each(rpcs)('%s', (name, method) => {
    const scope = needed(method);

    test('is refused to callers with every other scope, and the refusal names the missing scope', async () => {
      for (const word of GRANTABLE_SCOPES.filter((one) => one !== scope)) {
        expect(await outcome(name, method, callerKey(word), demo)).toMatchObject({
          code: DENIED,
          reason: 'scope_missing',
          message: expect.stringContaining(`${name} needs the scope ${scope}; the caller only ${word} has ${word}`),
        });
      }
    });

    test('is refused to the parts of the program that do not need it', async () => {
      for (const identity of IDENTITIES.filter((one) => !toCaller(one).scopes.has(readAccessRule(method).scope))) {
        expect(
          await outcome(name, method, callKey(identity, serviceOf(method), signingKey()).reveal(), demo),
        ).toMatchObject({
          code: DENIED,
          reason: 'scope_missing',
        });
      }
    });

    test('is refused without a known key, and with the key that all services once shared', async () => {
      for (const key of ['somebody-else', deriveSecret(signingKey(), 'service-calls').reveal()]) {
        expect(await outcome(name, method, key, demo)).toMatchObject({
          code: 'unauthenticated',
          reason: 'invalid_caller_key',
        });
      }
    });
  });

  describe.each(granted)('%s with its scope', (name, method) => {
    const { whose } = readAccessRule(method);
    const key = callerKey(needed(method));

    test('is refused for another account, and the refusal names the field with the account', async () => {
      const foreign = await outcome(name, method, key, other);

      if (whose.case === 'noAccount') expect(foreign).toMatchObject({ code: 'ok' });
      else expect(foreign).toMatchObject({ code: DENIED, reason: 'account_not_allowed' });
      if (whose.case === 'accountField' || whose.case === 'lookedUpBy') expect(foreign.field).toBe(whose.value);
    });

    test('is permitted for its own account, unless the RPC concerns every account', async () => {
      const own = await outcome(name, method, key, demo);

      if (whose.case === 'everyAccount') expect(own).toMatchObject({ code: DENIED, reason: 'account_not_allowed' });
      else expect([DENIED, 'unauthenticated']).not.toContain(own.code);
    });
  });

  test('a missing task and a task of another account get the same refusal', async () => {
    const nobody: Owner = { accountId: 'nobody', tokenId: 'token_none', taskId: 'task_none', jobId: 'job_none' };
    for (const [name, method] of rpcs.filter(([, one]) => readAccessRule(one).whose.case === 'lookedUpBy')) {
      const key = callerKey(needed(method));

      expect(await outcome(name, method, key, nobody)).toEqual(await outcome(name, method, key, other));
    }
  });
});

describe('a team with a key', () => {
  test('without scopes may read tasks and nothing else', async () => {
    const key = callerKey('reporting');
    await expect(
      connect('tasks', key).client(TaskService).listTasks({ accountId: 'demo', limit: 5 }),
    ).resolves.toBeDefined();
    await expect(
      connect('tasks', key).client(TaskService).createTask({ accountId: 'demo', order: anEndlessOrder() }),
    ).rejects.toMatchObject({ reason: 'scope_missing' });
    await expect(connect('billing', key).client(AccountService).getAccount({ id: 'demo' })).rejects.toMatchObject({
      reason: 'scope_missing',
    });
  });

  test('with account.read reads its account and the money of its tasks', async () => {
    const billing = connect('billing', callerKey('pipeline'));
    expect((await billing.client(AccountService).getAccount({ id: 'demo' })).account).toMatchObject({
      id: 'demo',
      currency: 'USD',
    });
    expect((await billing.client(BillingService).getHold({ taskId: demo.taskId })).hold).toMatchObject({
      accountId: 'demo',
    });
  });

  test('with tokens.write makes and revokes tokens of its own accounts only', async () => {
    const accounts = connect('billing', callerKey('pipeline')).client(AccountService);
    const { token } = await accounts.createToken({ accountId: 'demo', models: ['Beta-V1'] });
    expect((await accounts.listTokens({ accountId: 'demo' })).tokens.map(({ id }) => id)).toContain(token!.id);
    await expect(accounts.listTokens({})).rejects.toMatchObject({ reason: 'invalid_request', field: 'account_id' });
    expect((await accounts.revokeToken({ id: token!.id })).token?.revokedAt).toBeDefined();
    await expect(accounts.revokeToken({ id: other.tokenId })).rejects.toMatchObject({
      reason: 'account_not_allowed',
      field: 'id',
    });
    expect(
      (
        await connect('billing', callerKey('console')).client(AccountService).listTokens({ accountId: 'other' })
      ).tokens.find(({ id }) => id === other.tokenId)?.revokedAt,
    ).toBeUndefined();
  });

  test('creates only with models that the token may see, whatever models the request names', async () => {
    const { tokens } = await connect('billing', callerKey('pipeline'))
      .client(AccountService)
      .listTokens({ accountId: 'demo' });
    const narrow = tokens.find(
      ({ models, revokedAt }) => models.length === 1 && models[0] === 'Beta-V1' && revokedAt === undefined,
    )!;
    const tasks = connect('tasks', callerKey('pipeline')).client(TaskService);
    const create = (over: object) =>
      tasks.createTask({
        accountId: 'demo',
        order: anEndlessOrder(),
        ...over,
      });

    await expect(create({})).rejects.toMatchObject({ kind: 'invalid', field: 'token_id' });
    await expect(create({ tokenId: 'token_none' })).rejects.toMatchObject({
      reason: 'token_not_found',
      field: 'token_id',
    });
    await expect(create({ tokenId: other.tokenId })).rejects.toMatchObject({
      reason: 'token_not_found',
      field: 'token_id',
    });
    await expect(create({ tokenId: narrow.id })).rejects.toMatchObject({ reason: 'model_not_found' });
    await expect(
      tasks.estimateOrder({ accountId: 'demo', tokenId: narrow.id, order: anEndlessOrder() }),
    ).rejects.toMatchObject({ reason: 'model_not_found' });
  });

  test('creates with a token until it is revoked', async () => {
    const accounts = connect('billing', callerKey('pipeline')).client(AccountService);
    const { token } = await accounts.createToken({ accountId: 'demo', models: ['*'], limits: { inFlight: 1 } });
    const tasks = connect('tasks', callerKey('pipeline')).client(TaskService);
    const create = () => tasks.createTask({ accountId: 'demo', tokenId: token!.id, order: anEndlessOrder() });

    expect((await create()).task?.accountId).toBe('demo');
    await expect(create()).rejects.toMatchObject({ reason: 'too_many_tasks' });
    await accounts.revokeToken({ id: token!.id });
    await expect(create()).rejects.toMatchObject({ reason: 'token_disabled' });
  });

  test('cannot leave a hold without a task: the ledger is in order after all its attempts', async () => {
    expect((await program.command('ledger', 'verify')).json).toMatchObject({ ok: true, orphan_holds: [] });
  });

  test('for every account may call the RPCs that concern all accounts', async () => {
    const accounts = connect('billing', callerKey('console')).client(AccountService);
    expect((await accounts.verifyLedger({})).ok).toBe(true);
    expect(new Set((await accounts.listTokens({})).tokens.map(({ accountId }) => accountId)).size).toBeGreaterThan(1);
  });
});

describe('the bytes of media', () => {
  test.each<[string, () => string, number]>([
    ['the gateway', () => callKey('gateway', 'media', signingKey()).reveal(), 404],
    ['the tasks service', () => callKey('tasks', 'media', signingKey()).reveal(), 404],
    ['the operator', () => callKey('operator', 'media', signingKey()).reveal(), 403],
    ['a caller with scopes', () => callerKey('pipeline'), 403],
    ['a stranger', () => 'somebody-else', 401],
    ['the token of a client', () => KEYS.demo, 401],
  ])('answer %s by what it may', async (_who, key, status) => {
    const answer = await fetch(`http://${program.config.media.http}/bytes/obj_none`, {
      headers: { authorization: `Bearer ${key()}` },
    });

    expect(answer.status).toBe(status);
  });
});

test('the program prints no key', () => {
  for (const name of IDENTITIES)
    for (const callee of ['tasks', 'billing', 'media'] as const)
      expect(program.output()).not.toContain(callKey(name, callee, signingKey()).reveal());
});
