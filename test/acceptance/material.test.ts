/** From an owner's browser to the visitors: photos by an upload link, in the source, in git and in the next publish. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useStack } from '#test/stack/stack.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { change, clone, expectPage, newSite, post, publish } from './story.ts';

const stack = useStack();
const names = ['bread', 'coffee', 'harbour'];
const photo = (name: string) => join(import.meta.dirname, '../../providers/photos/offline', `${name}.jpg`);

test('an owner’s photos are in src/assets, in git, and in the next publish', { tags: 'chromium' }, async () => {
  const site = await newSite();
  const { body: link } = await post(`/v1/sites/${site.id}/uploads`, { max_files: 3 });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(link.url);
    await page.setInputFiles('#files', names.map(photo));
    await page.getByText('All your photos have been sent.').waitFor();
  } finally {
    await browser.close();
  }
  const { body: assets } = await stack.api(`/v1/sites/${site.id}/assets`);
  expect(assets.items.map(({ path }: { path: string }) => path).sort()).toEqual(
    names.map((name) => `src/assets/${name}.jpg`),
  );
  const git = await clone(site, 'source');
  const top = (await git('rev-parse', '--show-toplevel')).trim();
  for (const name of names) {
    expect(await readFile(join(top, `src/assets/${name}.jpg`))).toEqual(await readFile(photo(name)));
  }
  const imports = names.map((name) => `import ${name} from '../assets/${name}.jpg';`).join('\n');
  const images = names.map((name) => `<img id="${name}" src={${name}.src} alt="${name}">`).join('');
  await change(site, 'src/pages/photos.astro', `---\n${imports}\n---\n<h1>Our photos</h1>${images}\n`);
  expect((await publish(site)).body.status).toBe('live');
  await expectPage(site, '/photos/', 'Our photos');
  const { text } = await stack.visit(site.name, '/photos/');
  for (const name of names) {
    const path = new RegExp(`id="${name}"[^>]*src="([^"]+)"|src="([^"]+)"[^>]*id="${name}"`).exec(text);
    const visit = await stack.visit(site.name, path?.[1] ?? path?.[2] ?? '');
    expect(visit.body).toEqual(await readFile(photo(name)));
  }
});

test('a stock photo is found, added to a site and published', async () => {
  const site = await newSite();
  const { body: found } = await post('/v1/photos/search', { query: 'mountains' });
  const [first] = found.items;
  const thumb = await fetch(first.thumb_url);
  expect(thumb.headers.get('content-type')).toBe('image/jpeg');
  const placed = await post(`/v1/sites/${site.id}/photos`, { photo_id: first.id, path: 'src/assets/hero.jpg' });
  expect(placed.body).toMatchObject({ source: 'photo', credit: { author: first.credit.name } });
  const source = "import hero from '../assets/hero.jpg';\nimport credit from '../assets/hero.jpg.credit.json';";
  await change(
    site,
    'src/pages/hero.astro',
    `---\n${source}\n---\n<img src={hero.src} alt=""><p>Photo: {credit.author}</p>\n`,
  );
  expect((await publish(site)).body.status).toBe('live');
  await expectPage(site, '/hero/', `Photo: ${first.credit.name}`);
});
