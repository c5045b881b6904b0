import type { DoorFiles } from './routes.ts';

/** Every page of operators. A new one is one file and one line here. No client can load this file. */
export const OPERATOR_FILES: DoorFiles = {
  start: './start-operator.ts',
  main: './operator.ts',
  styles: ['style.css', 'operator.css'],
  pages: [
    { path: '', module: './pages/operator/now.tsx', nav: 'now' },
    { path: 'hand-over', module: './pages/operator/hand-over.tsx', nav: 'handOver' },
    { path: 'notes/:subject', module: './pages/operator/notes.tsx' },
    { path: 'search', module: './pages/operator/search.tsx' },
    { path: 'runbooks/:alert', module: './pages/operator/runbook.tsx' },
    { path: 'attention', module: './pages/operator/attention.tsx', nav: 'attention' },
    { path: 'tasks', module: './pages/operator/tasks.tsx', nav: 'tasks' },
    { path: 'tasks/:taskId', module: './pages/operator/task.tsx' },
    { path: 'queue', module: './pages/operator/waiting.tsx', nav: 'queue' },
    { path: 'channels', module: './pages/operator/channels.tsx', nav: 'channels' },
    { path: 'channels/:channelId', module: './pages/operator/channel.tsx' },
    { path: 'money', module: './pages/operator/money.tsx', nav: 'money' },
    { path: 'money/margins', module: './pages/operator/margins.tsx' },
    { path: 'accounts', module: './pages/operator/accounts.tsx', nav: 'accounts' },
    { path: 'accounts/:accountId', module: './pages/operator/account.tsx' },
    { path: 'jobs', module: './pages/operator/jobs.tsx', nav: 'jobs' },
    { path: 'jobs/:jobId', module: './pages/operator/job.tsx' },
    { path: 'configuration', module: './pages/operator/configuration.tsx', nav: 'configuration' },
  ],
};
