import { startConsole } from './state/load-page.ts';

// It imports almost nothing, so it runs where another file is missing, and says so.
startConsole(() => import('./client.ts'));
