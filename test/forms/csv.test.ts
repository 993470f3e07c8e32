/** The file of all submissions, as a spreadsheet reads it. */
import { expect, test } from 'vitest';
import { newId } from '#runtime/ids.ts';
import { useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms();
const form = await ask.newForm(owner, {
  fields: [
    { name: 'who', label: '=Who, "you"', kind: 'text' },
    { name: 'said', label: 'Said', kind: 'textarea' },
    { name: 'days', label: 'Days', kind: 'checkboxes', options: ['Mon', 'Tue'] },
  ],
});

/** RFC 4180, read letter by letter. */
function parse(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '"') throw new Error(`no quote at ${at}`);
    let cell = '';
    for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += text[at] === '"' ? 2 : 1) cell += text[at];
    row.push(cell);
    at += 1;
    if (text[at] === ',') at += 1;
    else if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw new Error(`no end of a cell at ${at}`);
  }
  return rows;
}

const file = async (query = '') => await ask.submissions(owner, form.id, `?format=csv${query}`);

test('the CSV has a byte order mark, complete answers, and no formulas', async () => {
  const formulas = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '=HYPERLINK("https://evil.example","x")',
    "=cmd|' /C calc'!A0",
    '＝1+1',
  ];
  for (const who of formulas)
    await ask.send(form.id, { who, said: `\t=1+1\nline "two", ${who}`, days: ['Tue', 'Mon'], '=extra': '=2' });
  const answer = await file();
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="[\w -]+, messages\.csv"; filename\*=UTF-8''[\w%.-]+messages\.csv$/,
  );
  const bytes = await fetch(`${fixture.url}/v1/forms/${form.id}/submissions?format=csv`, {
    headers: { authorization: `Bearer ${owner.token}` },
  }).then((response) => response.bytes());
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const [head, ...rows] = parse(Buffer.from(bytes.subarray(3)).toString());
  expect(head).toEqual(['Received (UTC)', `'=Who, "you"`, 'Said', 'Days', 'Other answers', 'Page', 'Id']);
  expect(rows[0]?.[0]).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  expect(rows.map(([, who]) => who)).toEqual(formulas.toReversed().map((formula) => `'${formula}`));
  for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/);
  expect(rows[0]?.slice(2, 5)).toEqual([`'\t=1+1\nline "two", ＝1+1`, 'Mon; Tue', `'=extra: =2`]);
});

test('thousands of rows are in the file, newest first, without loading all at once', async () => {
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const ids = Array.from({ length: 3_210 }, () => newId('sub'));
  const long = 'x'.repeat(2_000);
  await em.execute(
    `insert into submission (id, form_id, "values", created_at, expires_at)
     select id, ?, jsonb_build_array(jsonb_build_array('who', ?::text)), ?, ? from unnest(string_to_array(?, ',')) as id`,
    [form.id, long, now, new Date(now.getTime() + 60_000), ids.join(',')],
  );
  const { text } = await file(`&since=${encodeURIComponent(now.toISOString())}`);
  const rows = parse(text.replace(/^\ufeff/, '')).slice(1);
  expect(rows.map((row) => row.at(-1))).toEqual(ids.toSorted().reverse());
  expect(rows.every(([, who]) => who === long)).toBe(true);
});
