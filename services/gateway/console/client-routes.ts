import type { DoorFiles } from './routes.ts';

/** Every page of clients. A new one is one file and one line here. */
export const CLIENT_FILES: DoorFiles = {
  start: './start-client.ts',
  main: './client.ts',
  styles: ['style.css', 'client.css'],
  pages: [
    { path: '', module: './pages/client/home.ts', nav: 'home' },
    { path: 'tasks', module: './pages/client/tasks.ts', nav: 'tasks' },
    { path: 'tasks/:taskId', module: './pages/client/task.ts' },
    { path: 'try', module: './pages/client/try.ts', nav: 'try' },
    { path: 'usage', module: './pages/client/usage.ts', nav: 'usage' },
    { path: 'webhooks', module: './pages/client/webhooks.ts', nav: 'webhooks' },
    { path: 'webhooks/:endpointId', module: './pages/client/webhook-endpoint.ts' },
    { path: 'webhooks/:endpointId/:deliveryId', module: './pages/client/webhook-delivery.ts' },
    { path: 'tokens', module: './pages/client/tokens.ts', nav: 'tokens' },
  ],
};
