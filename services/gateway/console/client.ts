import type { Me } from './api/session.ts';
import { CLIENT_FILES } from './client-routes.ts';
import { drawConsole } from './main.ts';
import { words } from './words.ts';

drawConsole<Me>({
  name: 'client',
  pages: CLIENT_FILES.pages,
  navigation: words.nav,
  signIn: { field: 'token', label: words.signIn.token, hasDocs: true },
  describe: ({ accountId }) => accountId,
});
