/**
 * The time of a preview slot's build, from the call to the address: with a draft post beside the same change without one. Rounds are
 * interleaved; figures are medians. `--quick` measures once.
 */
import { loadavg } from 'node:os';
import { median } from './measure.ts';
import { warmth } from './publish.ts';
import { type BenchSite, type Fixture, openFixture } from './publish-fixture.ts';
import { newBlog, post } from './publish-sites.ts';

const rounds = process.argv.includes('--quick') ? 1 : 3;
const posts = 17;

type Change = 'page' | 'post' | 'draft';

const rows: { name: string; changes: Change[]; hasDraft: boolean }[] = [
  { name: 'a page changed, no draft post', changes: ['page'], hasDraft: false },
  { name: 'a page and a draft post changed', changes: ['page', 'draft'], hasDraft: true },
  { name: 'a post changed, no draft post', changes: ['post'], hasDraft: false },
  { name: 'a post and a draft post changed', changes: ['post', 'draft'], hasDraft: true },
  { name: 'only a draft post changed', changes: ['draft'], hasDraft: true },
];

async function change({ push }: Fixture, site: BenchSite, changes: Change[], mark: string): Promise<void> {
  const texts: Record<Change, [folder: string, path: string, text: string]> = {
    page: [site.source, 'src/pages/bench.astro', `<h1>${mark}</h1>`],
    post: [site.content, 'posts/post-1.md', post(1, mark)],
    draft: [site.content, 'posts/draft.md', post(2, mark).replace('---\n', '---\ndraft: true\n')],
  };
  for (const one of changes) {
    const [folder, path, text] = texts[one];
    await push(folder, { [path]: text }, 'preview/1');
  }
}

/** Builds the slot of a site with a draft post, or of one without, after the change. */
export async function benchPreviews(): Promise<string> {
  const fixture = await openFixture();
  try {
    await fixture.newOwner();
    const warm = warmth(fixture, 2);
    const sites = { with: await newBlog(fixture, posts), without: await newBlog(fixture, posts) };
    for (const site of Object.values(sites))
      await fixture.call(`/v1/sites/${site.id}/publish`, {}, { prefer: 'wait=120' });
    const taken = rows.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [n, { name, changes, hasDraft }] of rows.entries()) {
        const site = hasDraft ? sites.with : sites.without;
        await change(fixture, site, changes, `round-${round}-${n}`);
        await warm.settle();
        const from = performance.now();
        const { status } = await fixture.call(`/v1/sites/${site.id}/previews/1`, {}, { prefer: 'wait=120' });
        if (status !== 'draft') throw new Error(`the slot is ${status}`);
        taken[n]?.push(performance.now() - from);
        console.log(`… round ${round + 1} of ${rounds}, ${name}: ${Math.round(taken[n]?.at(-1) ?? 0)} ms`);
      }
    }
    const line = ({ name }: (typeof rows)[number], n: number) =>
      `| ${name} | ${Math.round(median(taken[n] ?? []))} ms |`;
    const load = loadavg().map((one) => one.toFixed(1));
    return [
      `A blog of 20 posts with 3 pictures in 12 sizes; ${rounds} rounds, medians; load average at the end ${load.join(', ')}.`,
      ['| slot | wall |', '| --- | --- |', ...rows.map(line)].join('\n'),
    ].join('\n\n');
  } finally {
    await fixture.stop();
  }
}
