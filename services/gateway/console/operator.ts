import type { OperatorMe } from './api/session.ts';
import { drawConsole } from './main.tsx';
import { OPERATOR_FILES } from './operator-routes.ts';
import { StatusBar } from './pages/operator/parts/status-bar.tsx';
import { operatorWords } from './pages/operator/operator-words.ts';

drawConsole<OperatorMe>({
  name: 'operator',
  pages: OPERATOR_FILES.pages,
  navigation: operatorWords.nav,
  signIn: { field: 'key', label: operatorWords.signIn.key, hasDocs: false },
  describe: ({ name, role }) => `${name} (${role})`,
  bar: StatusBar,
  queue: {
    nav: 'attention',
    topics: ['attention', 'channels'],
    readLength: ({ waiting }) => waiting,
    words: operatorWords.waiting,
  },
});
