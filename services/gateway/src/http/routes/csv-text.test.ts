import { expect, test } from '@jest/globals';
import { formatCsvLine } from './csv-text.ts';

test.each([
  ['a text', 'a boat', 'a boat'],
  ['a negative number', '-1.50', '-1.50'],
  ['a comma and a quote', 'a "red", boat', '"a ""red"", boat"'],
  ['a formula', '=1+1', "'=1+1"],
  ['a plus, a minus, an at', '+1', "'+1"],
  ['a minus before more than a number', '-1+cmd', "'-1+cmd"],
  ['a tab', '\t=1', `"\t'=1"`],
  ['a formula after spaces', '  =1', "'  =1"],
  ['a formula after a wide space', '\u3000=1', "'\u3000=1"],
  ['a formula after a byte order mark and a joiner', '\uFEFF\u200D=1', "'\uFEFF\u200D=1"],
  ['a wide sign', '\uFF1D1', "'\uFF1D1"],
  ['a wide at', '\uFF20SUM(1)', "'\uFF20SUM(1)"],
  ['a small sign', '\uFE661', "'\uFE661"],
  ['a true minus', '\u22121+cmd', "'\u22121+cmd"],
  ['a formula after a semicolon', 'a;=1', `"a;'=1"`],
  ['a formula after a semicolon, a space and a quote', 'a; "=1', `"a;' ""=1"`],
  ['a wide formula after a semicolon', 'a;\uFF1D1', `"a;'\uFF1D1"`],
  ['a formula on a second line', 'a\r\n=1', `"a\r\n'=1"`],
  ['a formula after a bar', 'a|@1', `"a|'@1"`],
  ['signs within a text', 'a=b;c+d', '"a=b;c+d"'],
])('a cell of %s is written as a text', (_what, text, written) => {
  expect(formatCsvLine([text, 'x'])).toBe(`${written},x\r\n`);
});
