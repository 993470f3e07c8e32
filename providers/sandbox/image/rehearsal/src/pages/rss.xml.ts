import rss from '@astrojs/rss';
import { getCollection } from 'astro:content';
import type { APIContext } from 'astro';

export async function GET({ site }: APIContext) {
  const posts = await getCollection('posts');
  return rss({
    title: 'Rehearsal',
    description: 'Built before a site is.',
    site: site ?? 'https://rehearsal.example',
    items: posts.map(({ id, data }) => ({ title: data.title, pubDate: data.date, link: `/posts/${id}/` })),
  });
}
