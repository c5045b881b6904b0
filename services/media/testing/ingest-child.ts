import { startMediaUnderTest } from './media-under-test.ts';

/* A separate process that fetches one result, so that a test can kill it. */
const [folder = '', host = '', url = ''] = process.argv.slice(2);
const under = await startMediaUnderTest({ folder, section: { fetch: { allow: [host] } } });
process.send?.('fetching');
await under.client.ingestResult({ accountId: 'demo', taskId: 'task_1', url }).catch(() => undefined);
