import { startMediaUnderTest } from './media-under-test.ts';

/* A process of its own that fetches one result, so that it can be killed while it does. */
const [folder = '', host = '', url = ''] = process.argv.slice(2);
const under = await startMediaUnderTest({ folder, section: { fetch: { allow: [host] } } });
process.send?.('fetching');
await under.client.ingestResult({ accountId: 'demo', taskId: 'task_1', url }).catch(() => undefined);
