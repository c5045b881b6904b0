import type { DoorFiles } from './routes.ts';

/** Every page of clients. A new one is one file and one line here. */
export const CLIENT_FILES: DoorFiles = {
  start: './start-client.ts',
  main: './client.ts',
  styles: ['style.css', 'client.css'],
  pages: [
    { path: '', module: './pages/client/home.tsx', nav: 'home' },
    { path: 'tasks', module: './pages/client/tasks.tsx', nav: 'tasks' },
    { path: 'tasks/:taskId', module: './pages/client/task.tsx' },
    { path: 'try', module: './pages/client/try.tsx', nav: 'try' },
    { path: 'usage', module: './pages/client/usage.tsx', nav: 'usage' },
    { path: 'webhooks', module: './pages/client/webhooks.tsx', nav: 'webhooks' },
    { path: 'webhooks/:endpointId', module: './pages/client/webhook-endpoint.tsx' },
    { path: 'webhooks/:endpointId/:deliveryId', module: './pages/client/webhook-delivery.tsx' },
    { path: 'tokens', module: './pages/client/tokens.tsx', nav: 'tokens' },
  ],
};
