/** The sites of the publish benchmark. */
import type { BenchSite, Fixture } from './publish-fixture.ts';

const words =
  'the tide turns before the boats do and whoever waits on the quay learns to read the water by its colour a rope is worth more than a map here and a map more than a promise'.split(
    ' ',
  );
const code = '```ts\nexport function next(tide: number): number {\n  return (tide + 745) % 1440;\n}\n```\n';

/** About 590 words; every fourth post has code. A visitor waits for the text `mark`. */
export function post(n: number, mark = ''): string {
  const paragraphs = Array.from({ length: 10 }, (_, p) =>
    Array.from({ length: 59 }, (_, w) => words[(n * 7 + p * 13 + w * (1 + (n % 5))) % words.length]).join(' '),
  );
  const day = new Date(Date.UTC(2025, 0, 1 + n)).toISOString().slice(0, 10);
  const head = `---\ntitle: Post ${n}\ndescription: The ${n}th of them.\ndate: ${day}\ntags: [tide, quay]\n---\n`;
  return `${head}\n${mark}\n\n${paragraphs.join('.\n\n')}.\n\n${n % 4 === 0 ? code : ''}`;
}

/** A blog of the template with this many additional posts, three of which have images. */
export async function newBlog(fixture: Fixture, posts: number): Promise<BenchSite> {
  const site = await fixture.newSite(fixture.call, 'blog');
  const files = Array.from({ length: posts }, (_, n) => [`posts/post-${n}.md`, post(n)] as const);
  await fixture.push(site.content, Object.fromEntries(files));
  return site;
}

/** A small site that generates this many files in addition to its pages. */
export async function newShelf(fixture: Fixture, files: number): Promise<BenchSite> {
  const site = await fixture.newSite(fixture.call, 'blank');
  await fixture.push(site.source, { 'src/pages/files/[n].txt.ts': shelf(files, '') });
  return site;
}

/** A page that generates the files; the first of them contains `mark`. */
export function shelf(files: number, mark: string): string {
  return `import { createHash } from 'node:crypto';

export const getStaticPaths = () => Array.from({ length: ${files} }, (_, n) => ({ params: { n: String(n) } }));

const lines = (n: string) =>
  Array.from({ length: 12 }, (_, line) => createHash('sha256').update(n + ' ' + line).digest('hex')).join('\\n');

export const GET = ({ params }: { params: { n: string } }) =>
  new Response(params.n === '0' ? '${mark}' : lines(params.n));
`;
}
