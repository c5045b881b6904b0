import type { Me } from './api/session.ts';
import { CLIENT_FILES } from './client-routes.ts';
import { drawConsole } from './main.tsx';
import { navigationWords } from './pages/client/client-words.ts';
import { words } from './words.ts';

drawConsole<Me>({
  name: 'client',
  pages: CLIENT_FILES.pages,
  navigation: navigationWords,
  signIn: { field: 'token', label: words.signIn.token, hasDocs: true },
  describe: ({ accountId }) => accountId,
});
