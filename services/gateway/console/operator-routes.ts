import type { DoorFiles } from './routes.ts';

/** Every page of operators. A new one is one file and one line here. No client can load this file. */
export const OPERATOR_FILES: DoorFiles = {
  start: './start-operator.ts',
  main: './operator.ts',
  styles: ['style.css', 'operator.css'],
  pages: [
    { path: '', module: './pages/operator/now.ts', nav: 'now' },
    { path: 'hand-over', module: './pages/operator/hand-over.ts', nav: 'handOver' },
    { path: 'notes/:subject', module: './pages/operator/notes.ts' },
    { path: 'search', module: './pages/operator/search.ts' },
    { path: 'runbooks/:alert', module: './pages/operator/runbook.ts' },
    { path: 'attention', module: './pages/operator/attention.ts', nav: 'attention' },
    { path: 'tasks', module: './pages/operator/tasks.ts', nav: 'tasks' },
    { path: 'tasks/:taskId', module: './pages/operator/task.ts' },
    { path: 'queue', module: './pages/operator/waiting.ts', nav: 'queue' },
    { path: 'channels', module: './pages/operator/channels.ts', nav: 'channels' },
    { path: 'channels/:channelId', module: './pages/operator/channel.ts' },
    { path: 'money', module: './pages/operator/money.ts', nav: 'money' },
    { path: 'money/margins', module: './pages/operator/margins.ts' },
    { path: 'accounts', module: './pages/operator/accounts.ts', nav: 'accounts' },
    { path: 'accounts/:accountId', module: './pages/operator/account.ts' },
    { path: 'jobs', module: './pages/operator/jobs.ts', nav: 'jobs' },
    { path: 'jobs/:jobId', module: './pages/operator/job.ts' },
    { path: 'configuration', module: './pages/operator/configuration.ts', nav: 'configuration' },
  ],
};
